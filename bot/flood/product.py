"""The whole product: the strict fake over HTTP, webhook, lanes, score workers, SQL, and what chats are told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from redis.exceptions import RedisError

from bot.fake_telegram import FakeTelegram, Wrong
from bot.flood.memory import resident_bytes
from bot.flood.people import People
from bot.flood.phases import ArenaGone, until
from bot.flood.plan import BACKLOG, FLOOD_BACKLOG, Plan
from bot.flood.processes import Process
from bot.flood.reckoning import Key, count_told, opened_rounds, owed, reckon, times_of_commits
from bot.flood.samples import FLOODED, Clock, Fate, Guess, Look, Memory, Phase, Record
from bot.flood.servers import Servers, free_port
from bot.flood.single_line import LINE
from bot.settings import Settings
from bot.wiring import Addresses, House, database_at, open_beside
from engine.ids import RoomId
from engine.store.errors import StoreError
from migrations.run import upgrade

_START_S: Final = 60.0
_LOOK_S: Final = 0.02
_LINE_FULL: Final = 64
_MOST_LOOKED_AT: Final = 1_000
_SECONDS_APART: Final = 1 << 20
_CHATS_APART: Final = 512
"""More than a flood has: one that begins a second later has others."""
_GONE: Final = (RedisError, StoreError, OSError)


@dataclass(slots=True)
class ProductArena:
    """Made by ``open_product``."""

    plan: Plan
    servers: Servers
    telegram: FakeTelegram
    people: People
    house: House
    processes: list[Process]
    exact: bool
    single_line: bool
    rooms: list[RoomId] = field(default_factory=list)
    keyboards: list[tuple[str, ...]] = field(default_factory=list)
    clock: Clock = field(default_factory=Clock)
    flood_room: int = _LINE_FULL
    _said: dict[Key, Guess] = field(default_factory=dict)
    _settled: bool = False
    _told: bool = False

    async def open_rounds(self) -> None:
        """Begin a round in every chat.

        Raises:
            ArenaGone: it did not begin in time.
        """
        numbers = range(self.plan.quiet_rooms + 1)
        for room in numbers:
            self.people.open_round(room)
        await self._until(lambda: all(self.people.opened(room) for room in numbers), "no round was opened")
        found = await opened_rounds(self.house.database, [chat.id for chat in self.people.chats])
        for chat in self.people.chats:
            room_id, keyboard = found[chat.id]
            self.rooms.append(room_id)
            self.keyboards.append(keyboard)
        await self._introduce()
        if self.plan.cap is not None:
            await self.house.game.operators.set(self.rooms[FLOODED], {"cap": self.plan.cap})

    async def _introduce(self) -> None:
        """Have every player guess once, so that nobody's first guess, which makes rows, is measured."""
        for room, players in enumerate(self.people.players):
            for player in range(len(players)):
                self.say(Guess(room, Phase.IDLE, self.clock.now_ms()), player)
        await self._until(lambda: not len(self.telegram.pending), "the players' first guesses were not taken")
        await until(self.drained)

    async def _until(self, holds: Callable[[], bool], else_what: str) -> None:
        deadline_s = time.monotonic() + _START_S
        while not holds():
            self.alive()
            if time.monotonic() > deadline_s:
                raise ArenaGone(f"{else_what} within {_START_S:.0f} s")
            await asyncio.sleep(_LOOK_S)

    def say(self, guess: Guess, player: int) -> None:
        """Say it in its chat."""
        guess.player = player % len(self.people.players[guess.room])
        self._said[self.people.guess(guess.room, player, self.keyboards[guess.room])] = guess
        self._settled = self._told = False

    def on_their_way(self) -> int:
        """Messages of the flooded chat that the webhook has not confirmed."""
        return self.telegram.waiting(self.people.chats[FLOODED])

    async def look(self, phase: Phase) -> Look:
        """Look at the queue of guesses."""
        self.alive()
        with self._servers_there():
            stats = await self.house.queues.guesses.stats(min(len(self.rooms), _MOST_LOOKED_AT))
        return Look.of(stats, self.rooms[FLOODED], phase, self.clock.now_ms(), but=LINE)

    async def weigh(self, phase: Phase) -> Memory:
        """Redis's data and the product's processes."""
        with self._servers_there():
            used = int((await self.house.redis.info("memory"))["used_memory"])
        sizes = {process.name: resident_bytes(process.pid) for process in self.processes if process.pid is not None}
        return Memory(self.clock.now_ms(), phase, used, sizes)

    async def flood_over(self) -> bool:
        """Whether the flooded chat's messages are taken and its guesses scored."""
        look = await self.look(Phase.FLOOD)
        return not (self.on_their_way() or look.flooded_in_flight) and await self._depth() == 0

    async def _depth(self) -> int:
        with self._servers_there():
            return await self.house.queues.guesses.depth(LINE if self.single_line else self.rooms[FLOODED])

    async def drained(self) -> bool:
        """Whether everything is taken and scored."""
        pending = len(self.telegram.pending)  # asked first: what is taken while we look would be missed
        look = await self.look(Phase.AFTER)
        if pending or look.waiting or look.leased:
            return False
        self._settled = True
        return True

    async def told(self) -> bool:
        """Whether the chats were told all that they are owed."""
        self.alive()
        with self._servers_there():
            self._told = not await owed(self.house.database, [chat.id for chat in self.people.chats])
        return self._told

    async def reckon(self, record: Record) -> None:
        """Ask SQL and the chats."""
        with self._servers_there():
            await reckon(self.house.database, self._said, self.clock, exact=self.exact)
        if self._settled:
            for guess in self._said.values():
                if guess.fate is Fate.UNTAKEN and not record.ended:
                    guess.fate = Fate.LOST
        record.double, record.unanswered = count_told(self.telegram.ledger, self._said, settled=self._told)
        record.scored_by = "the time of its commit" if self.exact else "the time of its row, just before its commit"
        # Answers of the last minutes are reckoned with when their chat has them.
        record.wrongs = len([each for each in self.telegram.judge.breaches if each.wrong is not Wrong.BAD_TOKEN])
        record.busiest_calls = max(self.telegram.ledger.busiest(chat) for chat in self.people.chats)

    async def count_turns(self, record: Record) -> None:
        """Pause all, let one flooded and two quiet rooms fill their lanes, resume, and see who is done when."""
        if self.single_line:
            return
        with self._servers_there():
            waiting = await self._lay_backlogs({FLOODED: FLOOD_BACKLOG, 1: BACKLOG, 2: BACKLOG})
        await until(self.drained)
        await self.reckon(record)
        scored: dict[int, list[float]] = {FLOODED: [], 1: [], 2: []}
        for guess in waiting:
            if guess.scored_ms is not None:
                scored[guess.room].append(guess.scored_ms)
        if len(scored[1]) == len(scored[2]) == BACKLOG:
            last_ms = max(*scored[1], *scored[2])
            record.done_at_service = sum(at_ms < last_ms for at_ms in scored[FLOODED])

    async def _lay_backlogs(self, counts: dict[int, int]) -> list[Guess]:
        waiting: list[Guess] = []
        await self.house.game.operators.pause_all()
        try:
            for room, count in counts.items():  # the flood's first: else it could not be ahead of anybody
                for number in range(count):
                    waiting.append(Guess(room, Phase.AFTER, self.clock.now_ms()))
                    self.say(waiting[-1], number % len(self.people.players[room]))
                await self._until(lambda: not len(self.telegram.pending), "the backlog was not taken")
        finally:
            await self.house.game.operators.resume_all()
        return waiting

    def alive(self) -> None:
        """See that servers and processes run."""
        if gone := self.servers.gone():
            raise ArenaGone(gone)
        for process in self.processes:
            if process.code is not None:
                raise ArenaGone(f"the {process.name} ended with code {process.code} ({process.last_words})")

    @contextmanager
    def _servers_there(self) -> Iterator[None]:
        """What is asked of servers inside is answered, or the arena is gone."""
        try:
            yield
        except _GONE as error:
            raise ArenaGone(self.servers.gone() or f"a server went away ({type(error).__name__})") from error


@asynccontextmanager
async def open_product(plan: Plan, servers: Servers, home: Path, *, single_line: bool) -> AsyncIterator[ProductArena]:
    """Start bot and workers on ``servers``, and begin a round in each chat. All of it ends with this.

    Raises:
        ArenaGone: something did not start.
        RedisUnusable, StoreError: each says what to do.
    """
    settings = Settings.model_validate({"room_ceiling": plan.ceiling})
    addresses = Addresses(servers.redis_url, servers.database_url)
    async with AsyncExitStack() as stack:
        async with database_at(servers.database_url, settings) as database:
            await upgrade(database)
        telegram = FakeTelegram(first_chat=int(time.time()) % _SECONDS_APART * _CHATS_APART)
        await stack.enter_async_context(telegram.serving())
        people = People.settle_in(telegram, plan)
        house = await stack.enter_async_context(open_beside(settings, addresses))
        processes = _start(plan, servers, telegram, home, single_line=single_line)
        stack.push_async_callback(_end, processes)
        exact = await times_of_commits(house.database)
        arena = ProductArena(plan, servers, telegram, people, house, processes, exact, single_line)
        await arena._until(lambda: all(process.ready for process in processes), "bot and workers were not ready")  # noqa: SLF001 - it makes them
        await arena.open_rounds()
        yield arena


def _start(plan: Plan, servers: Servers, telegram: FakeTelegram, home: Path, *, single_line: bool) -> list[Process]:
    port = free_port()
    common = {
        "REDIS_URL": servers.redis_url,
        "DATABASE_URL": servers.database_url,
        "TELEGRAM_TOKEN": telegram.token,
        "CODEMOJEX_TELEGRAM_API": telegram.url,
        "CODEMOJEX_ROOM_CEILING": str(plan.ceiling),
        "CODEMOJEX_LOG_LEVEL": "warning",
    }
    hook = {
        "CODEMOJEX_WEBHOOK_URL": f"http://127.0.0.1:{port}/telegram",
        "CODEMOJEX_LISTEN": f"127.0.0.1:{port}",
    }
    bot = Process("bot", "bot", home, common | hook, single_line=single_line)
    workers = [
        Process(f"worker {number}", "worker", home, common, single_line=single_line)
        for number in range(1, plan.workers + 1)
    ]
    return [bot, *workers]


async def _end(processes: list[Process]) -> None:
    await asyncio.gather(*(process.end() for process in processes))
