"""The composition root, with ``bot.wiring_intake``: nobody else builds adapters. Nothing is built at import time.

Two lifetimes: what is opened here lives as long as the process, everything else as long as one use of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Final

from redis.asyncio import Redis
from telegram.request import BaseRequest

from bot.application import build_application, build_bot
from bot.budget import SharedBudget
from bot.context import GameApplication
from bot.embedded import DataDirectoryUnusable, EmbeddedValkey
from bot.embedded_running import running_valkey
from bot.errors import AddressMissing, NothingRuns, ServerGone
from bot.intake import connect
from bot.messenger import TelegramMessenger
from bot.metrics import Meters
from bot.metrics.telegram import MeteredBudget, MeteredMessenger
from bot.redis_server import open_redis
from bot.settings import Settings
from bot.web.health import Health
from engine.game.draw import SecureDraw
from engine.game.ports import Draw
from engine.game.service import Game
from engine.game.world import World
from engine.lanes import Lanes
from engine.store.address import address_of
from engine.store.database import Database, open_database
from engine.store.work import SqlUnits
from engine.workers.adapters import NotifyRelay, Queues, RoomLanes, SettleClock, told_ceiling
from engine.workers.clock import ServerClock
from engine.workers.crew import Crew, CrewSettings
from engine.workers.node import NodeLease
from engine.workers.stopping import pause_unless
from migrations.run import require_current, upgrade

_SQLITE_FILE: Final = "codemojex.sqlite"
_HOUR_MS: Final = 3_600_000
_LOOK_EVERY_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where Redis and the database are; both may hold passwords, so neither is shown.

    ``embedded`` is the server behind ``redis``, where that is one of this process's own.
    """

    redis: str
    database: str
    embedded: EmbeddedValkey | None = None

    def __repr__(self) -> str:
        return "Addresses(...)"


@dataclass(frozen=True, slots=True)
class House:
    """Everything that bots and workers stand on."""

    settings: Settings
    redis: Redis
    database: Database
    units: SqlUnits
    queues: Queues
    game: Game
    meters: Meters


@contextmanager
def servers(settings: Settings) -> Iterator[Addresses]:
    """The servers that the settings name, or embedded ones in the data directory while this lasts.

    Blocks, and belongs to the main thread: outside of any event loop.

    Raises:
        EmbeddedError: the data directory or the server in it can't be used.
    """
    with ExitStack() as stack:
        database = database_address(settings)
        if settings.redis_url is not None:
            yield Addresses(settings.redis_url.get_secret_value(), database)
        else:
            server = stack.enter_context(EmbeddedValkey(settings.data_dir))
            yield Addresses(server.url, database, server)


def running_servers(settings: Settings) -> Addresses:
    """The servers that the settings name, or those of a program that runs in the data directory.

    In one directory, a bot's come before the terminal's.

    Raises:
        NothingRuns: there is none.
        AddressMissing: Redis is named, and the database is neither named nor in the data directory.
    """
    for at in (settings.on_telegram(), settings):
        file = at.data_dir.absolute() / _SQLITE_FILE
        redis = running_valkey(at.data_dir) if settings.redis_url is None else settings.redis_url.get_secret_value()
        if redis is not None and (settings.database_url is not None or file.exists()):
            return Addresses(redis, database_address(at))
    if settings.redis_url is not None:
        raise AddressMissing(
            f"REDIS_URL is set and DATABASE_URL is not, and there is no database in {settings.data_dir.absolute()}; "
            "set DATABASE_URL as for the bot, or name its data directory with --data-dir"
        )
    raise NothingRuns(
        f"nothing runs in {settings.data_dir.absolute()}; start `codemojex up` or `codemojex play` there, "
        "name another directory with --data-dir, or set REDIS_URL and DATABASE_URL as for the bot"
    )


@asynccontextmanager
async def open_beside(settings: Settings, addresses: Addresses) -> AsyncIterator[House]:
    """Open a house beside a running one, for operators: levers are pulled by the ceiling that its workers told.

    Raises:
        RedisUnusable, StoreError, NoNodeLeft: each says what to do.
    """
    async with open_redis(addresses.redis) as redis:
        ceiling = await told_ceiling(redis)
    if ceiling is not None:
        settings = settings.model_copy(update={"room_ceiling": ceiling})
    async with open_house(settings, addresses, SecureDraw(), migrating=False) as house:
        yield house


def database_address(settings: Settings) -> str:
    """The database that the settings name, or a file in the data directory.

    Raises:
        DataDirectoryUnusable: it can't be made.
    """
    if settings.database_url is not None:
        return settings.database_url.get_secret_value()
    folder = settings.data_dir.absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataDirectoryUnusable(
            f"cannot write the data directory {folder}: {error.strerror}; "
            "make it writable, or name another with --data-dir"
        ) from error
    return address_of(str(folder / _SQLITE_FILE))


@asynccontextmanager
async def database_at(address: str, settings: Settings) -> AsyncIterator[Database]:
    """The database at ``address``, looked at but for its schema.

    Raises:
        StoreError: it says what to do.
    """
    async with await open_database(address, pool_size=settings.database_pool) as database:
        yield database


@asynccontextmanager
async def open_house(
    settings: Settings, addresses: Addresses, draw: Draw, *, migrating: bool, guesses: type[Lanes] = Lanes
) -> AsyncIterator[House]:
    """Open everything, and close it in the opposite order.

    Args:
        settings: as loaded.
        addresses: as ``servers`` says.
        draw: where rounds come from.
        migrating: bring the schema up to date; else only look whether it is.
        guesses: what the queue of guesses is made of.

    Raises:
        RedisUnusable, StoreError, NoNodeLeft: each says what to do.
    """
    async with AsyncExitStack() as stack:
        redis = await stack.enter_async_context(open_redis(addresses.redis))
        database = await stack.enter_async_context(database_at(addresses.database, settings))
        await (upgrade(database) if migrating else require_current(database))
        node = await stack.enter_async_context(NodeLease(redis))
        now_ms = await stack.enter_async_context(ServerClock.of(redis))
        queues = Queues.on(redis, settings.redis_replicas, guesses)
        units = SqlUnits(database, node.mint)
        meters = Meters()
        world = World(
            units=units,
            lanes=RoomLanes(queues.guesses, redis, settings.room_ceiling, now_ms),
            clock=SettleClock(queues.settlements),
            relay=NotifyRelay(queues.notices),
            draw=draw,
            mint=node.mint,
            now_ms=now_ms,
            default_ceiling=settings.room_ceiling,
            observer=meters.game,
        )
        yield House(settings, redis, database, units, queues, Game.on(world), meters)


@dataclass(frozen=True, slots=True)
class Transport:
    """How the bot reaches Telegram. None: over HTTP."""

    request: BaseRequest | None = None
    get_updates_request: BaseRequest | None = None


@asynccontextmanager
async def open_application(
    house: House, stop: asyncio.Event, transport: Transport | None = None
) -> AsyncIterator[GameApplication | None]:
    """The application of the settings' token, known to Telegram by name; None where ``stop`` came before that.

    While Telegram is away, this waits for it.

    Raises:
        TokenMissing, TokenRefused: each says what to do.
    """
    transport = transport or Transport()
    token = house.settings.token()
    shared = SharedBudget(house.redis, int(token.partition(":")[0]), house.settings.limits())
    telegram = build_bot(
        token,
        budget=MeteredBudget(shared, house.meters.telegram),
        called=house.meters.telegram.called,
        request=transport.request,
        get_updates_request=transport.get_updates_request,
        base_url=f"{house.settings.telegram_api}/bot",
    )
    application = build_application(telegram, house.game)
    try:
        yield application if await connect(application, stop, api=house.settings.telegram_api) else None
    finally:
        await application.shutdown()
        await telegram.shutdown()  # the application does so only once it is initialized itself


async def watch_over(addresses: Addresses, stop: asyncio.Event) -> None:
    """Return at ``stop``; nobody starts the embedded server again, so its end is this process's too.

    Raises:
        ServerGone: it ended.
    """
    while not stop.is_set():
        if addresses.embedded is not None and addresses.embedded.pid is None:
            raise ServerGone(
                "the embedded Valkey ended; start this command again, nothing that was accepted is lost "
                f"(its log is in {addresses.embedded.data_dir})"
            )
        await pause_unless(stop, _LOOK_EVERY_S)


async def work(house: House, application: GameApplication, stop: asyncio.Event, health: Health | None = None) -> None:
    """Score, settle and say until ``stop``, then finish what was taken; ``health`` is told how that goes."""
    settings = house.settings
    messenger = MeteredMessenger(TelegramMessenger(application.bot), house.meters.telegram)
    pace = CrewSettings(
        score_batch=settings.score_batch,
        lease_ms=settings.lease_ms,
        keep_said_ms=settings.keep_said_hours * _HOUR_MS,
        keep_taken_ms=settings.keep_taken_hours * _HOUR_MS,
    )
    crew = Crew(house.game.world, house.queues, messenger, pace, house.meters.work.of)
    if health is not None:
        health.watch(crew.claim_ages_ms)
    await crew.run(stop)
