"""The lanes alone: jobs that take a fixed time, workers of this process, one Redis."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from bot.flood.memory import resident_bytes
from bot.flood.phases import ArenaGone, until
from bot.flood.plan import BACKLOG, PLACES, Plan
from bot.flood.samples import FLOODED, Clock, Fate, Guess, Look, Memory, Phase, Record
from bot.flood.servers import Servers
from bot.flood.single_line import LINE, SingleLine
from bot.redis_server import open_redis
from engine.ids import JOB, PLAYER, ROOM, Minter
from engine.lanes import Job, Lanes, QueueFull, Shift, Submission, Worker

QUEUE: Final = "cm.flood"
_AT_ONCE: Final = 200
_LAID_AT_ONCE: Final = 1_000
_GONE: Final = (RedisError, OSError)


@dataclass(slots=True)
class LanesArena:
    """Made by ``open_lanes``."""

    plan: Plan
    redis: Redis
    lanes: Lanes
    minter: Minter
    groups: list[str]
    clock: Clock = field(default_factory=Clock)
    flood_room: int = 2 * _AT_ONCE
    _players: dict[tuple[int, int], str] = field(default_factory=dict)
    _jobs: dict[str, Guess] = field(default_factory=dict)
    _flood: deque[tuple[Guess, int]] = field(default_factory=deque)
    _saying: set[asyncio.Task[None]] = field(default_factory=set)
    _order: list[tuple[int, str]] = field(default_factory=list)
    _double: int = 0
    _trouble: str = ""
    _settled: bool = False
    _more: asyncio.Event = field(default_factory=asyncio.Event)

    def say(self, guess: Guess, player: int) -> None:
        """Admit it: the flood's in batches, so that this side does not hold up the quiet ones."""
        self._settled = False
        if guess.room == FLOODED and guess.phase is Phase.FLOOD:
            self._flood.append((guess, player))
            self._more.set()
            return
        saying = asyncio.create_task(self._enqueue(guess, player))
        self._saying.add(saying)
        saying.add_done_callback(self._saying.discard)

    def on_their_way(self) -> int:
        """Of the flood, not admitted yet."""
        return len(self._flood)

    async def pour(self) -> None:
        """Admit the flood for as long as this runs."""
        while True:
            await self._more.wait()
            self._more.clear()
            while self._flood:
                batch = [self._flood[at] for at in range(min(_AT_ONCE, len(self._flood)))]
                await asyncio.gather(*(self._enqueue(guess, player) for guess, player in batch))
                for _ in batch:
                    self._flood.popleft()

    async def _enqueue(self, guess: Guess, player: int) -> None:
        job_id = self.minter.mint(JOB)
        self._jobs[job_id] = guess
        try:
            await self.lanes.enqueue(self.groups[guess.room], job_id, b"", lane=self._player(guess.room, player))
        except QueueFull as full:
            guess.fate, guess.eta_ms, guess.behind = Fate.REFUSED, full.eta_ms, full.depth
            guess.refused_ms = self.clock.now_ms()
        except _GONE as error:
            self._trouble = _went_away(error)

    def _player(self, room: int, player: int) -> str:
        if (room, player) not in self._players:
            self._players[room, player] = self.minter.mint(PLAYER)
        return self._players[room, player]

    async def handle(self, jobs: list[Job]) -> None:
        """What a worker does with one job."""
        await asyncio.sleep(self.plan.job_ms / 1_000)
        for job in jobs:
            self._order.append((job.token, job.group))
            guess = self._jobs.get(job.id)
            if guess is None:
                continue
            self._double += guess.scored_ms is not None
            guess.scored_ms, guess.fate = self.clock.now_ms(), Fate.SCORED

    async def look(self, phase: Phase) -> Look:
        """Look at the queue."""
        self.alive()
        with _redis_there():
            stats = await self.lanes.stats(min(len(self.groups), 1_000))
        return Look.of(stats, self.groups[FLOODED], phase, self.clock.now_ms())

    async def weigh(self, phase: Phase) -> Memory:
        """Redis's data and this process."""
        with _redis_there():
            used = int((await self.redis.info("memory"))["used_memory"])
        return Memory(self.clock.now_ms(), phase, used, {"flood": resident_bytes()})

    async def drained(self) -> bool:
        """Whether nothing is on its way, waits or runs."""
        on_their_way = bool(self._flood or self._saying)  # asked first: what is admitted while we look would be missed
        look = await self.look(Phase.AFTER)
        self._settled = not (on_their_way or look.waiting or look.leased)
        return self._settled

    async def flood_over(self) -> bool:
        """Whether the flooded room's jobs are done."""
        with _redis_there():
            left = await self.lanes.depth(self.groups[FLOODED])
        return not self._flood and not left

    async def told(self) -> bool:
        """Nobody is told anything here."""
        return True

    async def reckon(self, record: Record) -> None:
        """Everything was written down as it happened; what has no fate though nothing is left is lost."""
        if self._settled and not record.ended:
            for guess in record.guesses:
                if guess.fate is Fate.UNTAKEN:
                    guess.fate = Fate.LOST
        record.double = self._double
        record.scored_by = "when its handler was done"

    async def count_turns(self, record: Record) -> None:
        """Lay the whole flood on one group and a hundred on each of two more, then let them be served."""
        loud, *quiet = (self.minter.mint(ROOM) for _ in range(3))
        if self.plan.fifo and isinstance(self.lanes, SingleLine):
            return
        with _redis_there():
            await self._lay_backlogs({loud: self.plan.flood_guesses} | dict.fromkeys(quiet, BACKLOG))
        await until(self.drained)
        tokens = {name: sorted(token for token, group in self._order if group == name) for name in (loud, *quiet)}
        if all(len(tokens[group]) == BACKLOG for group in quiet):
            last = max(tokens[group][-1] for group in quiet)
            record.done_at_service = sum(token < last for token in tokens[loud])

    async def _lay_backlogs(self, counts: dict[str, int]) -> None:
        self.groups.extend(counts)  # to be forgotten at the end, too
        await self.lanes.pause_all()
        for group, count in counts.items():
            for first in range(0, count, _LAID_AT_ONCE):
                ids = [self.minter.mint(JOB) for _ in range(min(_LAID_AT_ONCE, count - first))]
                await self.lanes.enqueue_many([Submission(group=group, job_id=id_, payload=b"") for id_ in ids])
        self._order.clear()
        await self.lanes.resume_all()

    def alive(self) -> None:
        """See that Redis was there the last time that anything was asked of it."""
        if self._trouble:
            raise ArenaGone(self._trouble)


@contextmanager
def _redis_there() -> Iterator[None]:
    """What is asked of Redis inside is answered, or the arena is gone."""
    try:
        yield
    except _GONE as error:
        raise ArenaGone(_went_away(error)) from error


def _went_away(error: Exception) -> str:
    return f"Redis went away ({type(error).__name__})"


@asynccontextmanager
async def open_lanes(plan: Plan, servers: Servers, *, fifo: bool) -> AsyncIterator[LanesArena]:
    """Open a queue of its own on the Redis of ``servers``, with workers; what is left of it is forgotten at the end.

    Raises:
        RedisUnusable: it says what to do.
    """
    async with open_redis(servers.redis_url) as redis, _working(plan, redis, fifo=fifo) as arena:
        yield arena


@asynccontextmanager
async def _working(plan: Plan, redis: Redis, *, fifo: bool) -> AsyncIterator[LanesArena]:
    minter = Minter(0)
    groups = [minter.mint(ROOM) for _ in range(plan.quiet_rooms + 1)]
    lanes = (SingleLine if fifo else Lanes)(redis, f"{QUEUE}.{secrets.token_hex(6)}")
    arena = LanesArena(plan, redis, lanes, minter, groups)
    for group in groups:
        await lanes.limit(group, plan.ceiling)
    await lanes.cap(groups[FLOODED], plan.cap)
    stop = asyncio.Event()
    shift = Shift(batch=PLACES, at_once=PLACES)
    tasks = [asyncio.create_task(Worker(lanes, arena.handle, shift).run(stop)) for _ in range(plan.workers)]
    pouring = asyncio.create_task(arena.pour())
    try:
        yield arena
    finally:
        stop.set()
        pouring.cancel()
        await asyncio.gather(pouring, *tasks, return_exceptions=True)
        with suppress(*_GONE):
            for group in (*groups, LINE):
                await lanes.forget(group)
