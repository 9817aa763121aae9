"""Makes a whole product on real servers, less Telegram: rooms, rounds and guesses through the game's own use cases."""

from __future__ import annotations

import itertools
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from redis.asyncio import Redis

from engine.game.draw import SeededDraw
from engine.game.model import Account, Place, Room, Round, Source
from engine.game.notices import Answer, Notice
from engine.game.ports import OutboxItem
from engine.game.request import Receipt, Request
from engine.game.service import Game
from engine.game.themes import theme
from engine.game.world import World
from engine.ids import Minter
from engine.store.database import open_database
from engine.store.work import SqlUnits
from engine.workers.adapters import NotifyRelay, Queues, RoomLanes, SettleClock
from engine.workers.ports import Delivered, Told
from engine.workers.scorer import ScoreWorker

CEILING = 8


@dataclass
class Recorder:
    """A messenger that remembers what it said; ``outcomes`` are played first, then everything is told at once."""

    outcomes: list[Delivered | Exception] = field(default_factory=list)
    said: list[list[OutboxItem]] = field(default_factory=list)

    async def say(self, items: Sequence[OutboxItem]) -> Delivered:
        outcome = self.outcomes.pop(0) if self.outcomes else Told(len(items), 0)
        if isinstance(outcome, Exception):
            raise outcome
        if isinstance(outcome, Told):
            self.said.append(list(items[: outcome.count]))
        return outcome

    @property
    def notices(self) -> list[Notice]:
        return [item.notice for items in self.said for item in items]


@dataclass
class Clock:
    """A wall clock that a test can move."""

    ahead_ms: int = 0

    def __call__(self) -> int:
        return time.time_ns() // 1_000_000 + self.ahead_ms


@dataclass
class House:
    """The product on a test's servers."""

    redis: Redis
    world: World
    game: Game
    queues: Queues
    units: SqlUnits
    clock: Clock
    messages: Callable[[], int]

    def request(self, name: str = "Ana", *, chat: int = -100, message: int | None = None) -> Request:
        account = Account(sum(ord(letter) << 8 * place for place, letter in enumerate(name[:4])), name)
        place = Place(chat, 0, "A chat", private=False)
        return Request(place, account, Source(chat, message if message is not None else self.messages()))

    async def open(self, *, chat: int = -100, minutes: int = 10) -> tuple[Room, Round]:
        request = self.request(chat=chat)
        assert await self.game.rounds.open(request, "fruits", minutes) is Receipt.DURABLE
        return await self.current(chat)

    async def current(self, chat: int = -100) -> tuple[Room, Round]:
        async with self.units.read() as work:
            room = await work.rooms.find(self.request(chat=chat).place)
            assert room is not None
            round_ = await work.rounds.newest(room.id)
            assert round_ is not None
        return room, round_

    async def guess(self, codes: Sequence[str], name: str = "Ana", *, chat: int = -100) -> Receipt:
        _, round_ = await self.current(chat)
        text = theme(round_.theme).show(codes)
        return await self.game.guesses.guess(self.request(name, chat=chat), text, explicit=False)

    def scorer(self) -> ScoreWorker:
        return ScoreWorker(self.queues.guesses, self.units, self.world.relay, self.world.clock, self.world.now_ms)

    async def score(self, count: int = 100) -> int:
        """Score one batch; answers how many jobs it had."""
        jobs = await self.queues.guesses.claim(count)
        await self.scorer().handle(jobs)
        return len(jobs)

    async def unsent(self) -> list[Notice]:
        async with self.units.read() as work:
            ids = [id_ for id_, _ in await work.outbox.unsent(10_000, 1 << 62)]
            return [item.notice for item in await work.outbox.load(ids)]

    async def answers(self) -> list[Answer]:
        return [notice for notice in await self.unsent() if isinstance(notice, Answer)]


@asynccontextmanager
async def house(redis: Redis, database_url: str) -> AsyncIterator[House]:
    """Build everything on an empty Redis and a database with the newest schema but nothing in it."""
    minter = Minter(1)
    clock = Clock()
    numbers = itertools.count(1)
    async with await open_database(database_url) as database:
        units = SqlUnits(database, minter.mint)
        queues = Queues.on(redis)
        world = World(
            units=units,
            lanes=RoomLanes(queues.guesses, redis, CEILING, clock),
            clock=SettleClock(queues.settlements),
            relay=NotifyRelay(queues.notices),
            draw=SeededDraw(1),
            mint=minter.mint,
            now_ms=clock,
            default_ceiling=CEILING,
        )
        yield House(redis, world, Game.on(world), queues, units, clock, lambda: next(numbers))


def wrong(round_: Round) -> tuple[str, ...]:
    """Six codes of the keyboard that do not crack ``round_``: its secret, turned by one."""
    return (*round_.secret[1:], round_.secret[0])
