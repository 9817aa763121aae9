"""Who is served when: a flood beside two small backlogs, weights, the ring, and one room under forty workers."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from benchmarks.figure import Figure, at_least, at_most, of_runs
from benchmarks.peers import Peers
from benchmarks.server import valkey
from benchmarks.sizes import Sizes
from bot.redis_server import open_redis
from engine.ids import JOB, ROOM, Minter
from engine.lanes import Job, Lanes, Shift, Submission, Worker

_SMALL: Final = 100
_BY_SERVICE: Final = 104
_WEIGHTS: Final = (8, 3, 1)
_WITHIN: Final = 0.01
_CLAIM: Final = 32
_CEILING: Final = 8
_WORKERS: Final = 40
_ONE_ROOM: Final = 10_000
_RING_GROUPS: Final = 30
_PORTION: Final = 1_000
_SEED: Final = 11
_SLOW_MS: Final = 30
_QUICK_MS: Final = 1
_HANDLERS: Final = 8
_SLOW_CEILING: Final = 2


def measure(sizes: Sizes, _: Peers) -> Iterator[Figure]:
    with valkey() as url:
        done_at, drained = asyncio.run(_flood(url, sizes.flooded))
        shares = asyncio.run(_shares(url, sizes.weighed))
        drift = asyncio.run(_ring(url, sizes.ring_steps))
        done, twice, most = asyncio.run(_one_room(url))
        free, bound = (asyncio.run(_slow_beside_quick(url, sizes.timed, ceiling)) for ceiling in (None, _SLOW_CEILING))
    yield of_runs(
        f"{sizes.flooded:,} jobs of one room, {_SMALL} each of two: its service by which theirs are done",
        "services",
        [done_at],
        bound=at_most(_BY_SERVICE),
    )
    yield of_runs("  and its own that are done in the end", "jobs", [drained], bound=at_least(sizes.flooded))
    worst = max(abs(share - weight / sum(_WEIGHTS)) for share, weight in zip(shares, _WEIGHTS, strict=True))
    yield of_runs(
        f"weights {':'.join(map(str, _WEIGHTS))}, equal backlogs: how far a share is from its weight's",
        "of all",
        [worst],
        bound=at_most(_WITHIN),
    )
    yield of_runs(
        f"looks at the ring, of {sizes.ring_steps:,}, with another length than there are servable groups",
        "looks",
        [drift],
        bound=at_most(0),
    )
    yield of_runs(
        f"{_ONE_ROOM:,} jobs of one room, {_WORKERS} workers: done", "jobs", [done], bound=at_least(_ONE_ROOM)
    )
    yield of_runs("  done twice", "jobs", [twice], bound=at_most(0))
    yield of_runs(f"  most in flight, ceiling {_CEILING}", "jobs", [most], bound=at_most(_CEILING))
    slow = f"jobs of {_SLOW_MS} ms beside jobs of {_QUICK_MS} ms"
    yield of_runs(f"{slow}: share of turns of the slow room", "of all", [free.turns], bound=at_least(0.5 - _WITHIN))
    yield of_runs(f"  its share of {_HANDLERS} handlers' time", "of all", [free.time])
    most_time = _SLOW_CEILING / _HANDLERS
    name = f"  the same with a ceiling of {_SLOW_CEILING} for it"
    yield of_runs(name, "of all", [bound.time], bound=at_most(most_time + _WITHIN))


async def _flood(url: str, flooded: int) -> tuple[int, int]:
    async with _queue(url, "flood") as (lanes, minter):
        loud, *quiet = (minter.mint(ROOM) for _ in range(3))
        await _fill(lanes, minter, {loud: flooded, **dict.fromkeys(quiet, _SMALL)})
        left = dict.fromkeys(quiet, _SMALL)
        served = done_at = 0
        while jobs := await lanes.claim(_CLAIM):
            for job in jobs:
                if job.group == loud:
                    served += 1
                    continue
                left[job.group] -= 1
                done_at = served
            await lanes.complete(jobs)
        assert not any(left.values())  # noqa: S101 - else the figure would mean nothing
        return done_at, served


async def _shares(url: str, jobs: int) -> list[float]:
    """What each weight is given while all have a backlog."""
    async with _queue(url, "weights") as (lanes, minter):
        groups = [minter.mint(ROOM) for _ in _WEIGHTS]
        for group, weight in zip(groups, _WEIGHTS, strict=True):
            await lanes.weight(group, weight)
        await _fill(lanes, minter, dict.fromkeys(groups, jobs))
        served: Counter[str] = Counter()
        while max(served.values(), default=0) < jobs * 0.9:
            claimed = await lanes.claim(_CLAIM)
            served.update(job.group for job in claimed)
            await lanes.complete(claimed)
        return [served[group] / served.total() for group in groups]


async def _ring(url: str, steps: int) -> int:
    """Do whatever comes; count the looks at which the ring is not as long as there are groups that can be served."""
    async with _queue(url, "ring") as (lanes, minter):
        chance = random.Random(_SEED)  # noqa: S311 - a repeatable load
        groups = [minter.mint(ROOM) for _ in range(_RING_GROUPS)]
        leased: list[Job] = []
        differ = 0
        for _ in range(steps):
            await _step(lanes, minter, chance, chance.choice(groups), leased)
            stats = await lanes.stats(_RING_GROUPS)
            servable = [
                row
                for row in stats.top
                if row.depth and not row.paused and (row.ceiling is None or row.in_flight < row.ceiling)
            ]
            differ += len(servable) != stats.servable
        return differ


async def _step(lanes: Lanes, minter: Minter, chance: random.Random, group: str, leased: list[Job]) -> None:
    match chance.randrange(6):
        case 0 | 1:
            await lanes.enqueue(group, minter.mint(JOB), b"")
        case 2:
            leased += await lanes.claim(chance.randint(1, 5))
        case 3:
            done = [leased.pop() for _ in range(min(len(leased), chance.randint(1, 4)))]
            await lanes.complete(done)
        case 4:
            await (lanes.pause(group) if chance.random() < 0.4 else lanes.resume(group))
        case _:
            await lanes.limit(group, chance.choice((1, 2, None)))


async def _one_room(url: str) -> tuple[int, int, int]:
    """Jobs that were done, how many of them twice, and the most that any look found in flight."""
    async with _queue(url, "room") as (lanes, minter):
        room = minter.mint(ROOM)
        await lanes.limit(room, _CEILING)
        await _fill(lanes, minter, {room: _ONE_ROOM})
        done: Counter[str] = Counter()
        stop, most = asyncio.Event(), 0

        async def handle(jobs: Sequence[Job]) -> None:
            done.update(job.id for job in jobs)

        shift = Shift(batch=_CEILING, at_once=_CEILING)
        workers = [asyncio.create_task(Worker(lanes, handle, shift).run(stop)) for _ in range(_WORKERS)]
        while (stats := await lanes.stats(1)).waiting or stats.leased:
            most = max(most, *(row.in_flight for row in stats.top), 0)
            await asyncio.sleep(0)
        stop.set()
        await asyncio.gather(*workers)
        return len(done), done.total() - len(done), most


@dataclass(frozen=True, slots=True)
class _Shares:
    """Of turns that were given, and of the handlers' time, while both rooms had a backlog."""

    turns: float
    time: float


async def _slow_beside_quick(url: str, jobs: int, ceiling: int | None) -> _Shares:
    """What a room of slow jobs gets beside one of quick jobs, until ``jobs`` of the slow ones are done."""
    async with _queue(url, f"slow-{ceiling or 0}") as (lanes, minter):
        slow, quick = minter.mint(ROOM), minter.mint(ROOM)
        await lanes.limit(slow, ceiling)
        await _fill(lanes, minter, {slow: jobs + _HANDLERS, quick: jobs * _SLOW_MS * _HANDLERS})
        turns: Counter[str] = Counter()
        spent_s = 0.0
        stop = asyncio.Event()

        async def handle(its: Sequence[Job]) -> None:
            nonlocal spent_s
            (job,) = its
            began_s = time.monotonic()
            await asyncio.sleep((_SLOW_MS if job.group == slow else _QUICK_MS) / 1_000)
            turns[job.group] += 1
            spent_s += (time.monotonic() - began_s) * (job.group == slow)
            if turns[slow] == jobs:
                stop.set()

        began_s = time.monotonic()
        await Worker(lanes, handle, Shift(batch=1, at_once=_HANDLERS, grace_ms=0)).run(stop)
        return _Shares(turns[slow] / turns.total(), spent_s / ((time.monotonic() - began_s) * _HANDLERS))


@asynccontextmanager
async def _queue(url: str, name: str) -> AsyncIterator[tuple[Lanes, Minter]]:
    async with open_redis(url) as redis:
        yield Lanes(redis, name), Minter(0)


async def _fill(lanes: Lanes, minter: Minter, counts: dict[str, int]) -> None:
    """Admit so many jobs of each group."""
    for group, count in counts.items():
        for first in range(0, count, _PORTION):
            ids = [minter.mint(JOB) for _ in range(min(_PORTION, count - first))]
            await lanes.enqueue_many([Submission(group=group, job_id=id_, payload=b"") for id_ in ids])
