"""``codemojex up``, ``codemojex bot`` and ``codemojex worker``: the program on Telegram."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import structlog
import typer

from bot import events
from bot.commands.options import DataDir
from bot.errors import AddressMissing
from bot.logs import configure
from bot.redis_server import count_replicas
from bot.running import Stop, run, together
from bot.settings import REPLICAS, LogFormat, Settings, load_settings, strangers
from bot.wiring import Addresses, open_application, open_house, servers, watch_over, work
from bot.wiring_intake import open_web, take_updates
from engine.game.draw import SecureDraw
from engine.lanes import Lanes

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Part:
    """Which parts of the program run in this process."""

    name: str
    takes: bool
    works: bool
    migrates: bool


BOT: Final = Part("bot", takes=True, works=False, migrates=False)
WORKER: Final = Part("worker", takes=False, works=True, migrates=False)


def up(data_dir: DataDir = None) -> None:
    """Run bot and workers in one process; it starts servers of its own unless REDIS_URL and DATABASE_URL name others.

    Needs TELEGRAM_TOKEN, the token of a bot from @BotFather. Applies the migrations.
    """
    _serve(
        Part("bot and workers", takes=True, works=True, migrates=True), load_settings(data_dir=data_dir).on_telegram()
    )


def bot() -> None:
    """Take updates from Telegram. Any number of these may run: one polls at a time, the others stand by.

    Needs TELEGRAM_TOKEN, REDIS_URL, DATABASE_URL and a migrated database (see `codemojex migrate`).
    """
    serve_apart(BOT)


def worker() -> None:
    """Score guesses, settle rounds and say what there is to say. Any number of these may run.

    Needs TELEGRAM_TOKEN, REDIS_URL, DATABASE_URL and a migrated database (see `codemojex migrate`).
    """
    serve_apart(WORKER)


def serve_apart(part: Part, guesses: type[Lanes] = Lanes) -> None:
    """Run ``part`` on the servers that the environment names.

    Args:
        part: which.
        guesses: what the queue of guesses is made of.

    Raises:
        BadSettings, TokenMissing, AddressMissing: each says what to do.
    """
    settings = load_settings()
    for name, address in (("REDIS_URL", settings.redis_url), ("DATABASE_URL", settings.database_url)):
        if address is None:
            raise AddressMissing(
                f"`codemojex {part.name}` shares its servers with other processes and {name} names none; "
                f"set {name}, or run everything in one process with `codemojex up`"
            )
    _serve(part, settings, guesses)


def _serve(part: Part, settings: Settings, guesses: type[Lanes] = Lanes) -> None:
    settings.token()  # before any server is started for nothing
    settings.require_replicas()
    if part.takes:
        settings.webhook()
    configure(settings.log_level, json=settings.log_format is LogFormat.JSON)
    for name, nearest in strangers():
        _log.warning(events.UNKNOWN_SETTING, setting=name, nearest=nearest)
    with servers(settings) as addresses:
        run(lambda stop: _run(part, settings, addresses, stop, guesses))


async def _run(part: Part, settings: Settings, addresses: Addresses, stop: Stop, guesses: type[Lanes]) -> None:
    async with (
        open_house(settings, addresses, SecureDraw(), migrating=part.migrates, guesses=guesses) as house,
        open_web(house, takes=part.takes, works=part.works) as web,
        open_application(house, stop) as application,
    ):
        if application is None:
            return
        await count_replicas(house.redis, settings.redis_replicas, REPLICAS)
        jobs = [watch_over(addresses, stop)]
        if part.works:
            jobs.append(work(house, application, stop, web.health))
        if part.takes:
            jobs.append(take_updates(house, application, stop, web))
        typer.echo(
            f"Codemojex ({part.name}) is @{application.bot.username} and ready. "
            f"It keeps its data in {house.database.where}. Ctrl-C stops it."
        )
        await together(stop, *jobs)
    typer.echo(f"Codemojex ({part.name}) has stopped.")
