"""A slot that becomes free is used at once, whatever freed it: by who claims next, and by a worker that is parked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from engine.lanes import Job, Lanes, Reassignment, Verdict
from tests.lanes.naming import A, B
from tests.lanes.oracle import Oracle
from tests.lanes.parking import LONG_MS, SOON_S, blocked
from tests.lanes.steps import claimed_ids, fill
from tests.lanes.travelling import travel
from tests.lanes.watching import WatchedRedis

HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Full:
    """Group A at its ceiling of 1: ``running`` has the slot, and one more job waits."""

    lanes: Lanes
    impatient: Lanes
    redis: WatchedRedis
    running: Job
    waiting: str

    async def lose(self) -> None:
        await self.redis.delete(f"emq:{{cm}}:j:{self.running.id}")
        assert await self.lanes.complete([self.running]) == [Verdict.gone]

    async def reap(self, *, buried: bool = False, of_group: bool = False) -> None:
        await travel(self.redis, HOUR_MS)
        lanes = self.impatient if buried else self.lanes
        assert await (lanes.reap_group(A) if of_group else lanes.reap()) == 1

    async def move_away(self) -> None:
        assert await self.lanes.reassign(self.waiting, B) is Reassignment.reassigned


WAYS: dict[str, tuple[str, Callable[[Full], Awaitable[object]]]] = {
    "complete": ("waiting", lambda full: full.lanes.complete([full.running])),
    "complete what is gone": ("waiting", Full.lose),
    "retry": ("running", lambda full: full.lanes.retry(full.running, "broken", 0)),
    "retry later": ("waiting", lambda full: full.lanes.retry(full.running, "broken", HOUR_MS)),
    "bury": ("waiting", lambda full: full.impatient.retry(full.running, "broken")),
    "release": ("running", lambda full: full.lanes.release([full.running])),
    "reap": ("running", Full.reap),
    "reap and bury": ("waiting", lambda full: full.reap(buried=True)),
    "reap_group": ("running", lambda full: full.reap(of_group=True)),
    "reassign what waits": ("waiting", Full.move_away),
    "raise the ceiling": ("waiting", lambda full: full.lanes.limit(A, 2)),
    "take the ceiling back": ("waiting", lambda full: full.lanes.limit(A, None)),
}
"""Who is served then, and what is done."""


@pytest.mark.case("L5")
@pytest.mark.parametrize("taker", ["the next claim", "a parked worker"])
@pytest.mark.parametrize("way", WAYS)
async def test_whatever_frees_a_slot_the_group_is_served_at_once(
    lanes: Lanes, redis: WatchedRedis, oracle: Oracle, way: str, taker: str
) -> None:
    oracle.ghosts = way == "complete what is gone"
    await lanes.limit(A, 1)
    first, second = await fill(lanes, A, 2)
    (running,) = await lanes.claim(9, HOUR_MS)
    assert running.id == first
    full = Full(lanes, Lanes(redis, "cm", max_attempts=1), redis, running, second)
    who, free = WAYS[way]
    expected = [first if who == "running" else second]
    if taker == "the next claim":
        await free(full)
        assert await claimed_ids(lanes, 9) == expected
        return
    parked = asyncio.create_task(serve(lanes))
    await blocked(redis, 1)
    await free(full)
    assert await asyncio.wait_for(parked, SOON_S) == expected


async def serve(lanes: Lanes) -> list[str]:
    """What a worker claims next, parked until then."""
    while not (ids := await claimed_ids(lanes, 9)):
        await lanes.wait(LONG_MS)
    return ids


@pytest.mark.case("L5")
@pytest.mark.parametrize("taker", ["the next claim", "a parked worker"])
async def test_a_redriven_job_takes_a_free_slot_at_once_and_waits_for_one_that_is_not(
    lanes: Lanes, redis: WatchedRedis, taker: str
) -> None:
    await lanes.limit(A, 1)
    dead, other = await fill(lanes, A, 2)
    impatient = Lanes(redis, "cm", max_attempts=1)
    for job_id in (dead, other):
        (job,) = await lanes.claim(9)
        assert (job.id, await impatient.retry(job, "broken")) == (job_id, Verdict.dead)
    if taker == "the next claim":
        assert await lanes.redrive(job_id=dead) == 1
        jobs = await lanes.claim(9)
    else:
        parked = asyncio.create_task(lanes.wait(LONG_MS))
        await blocked(redis, 1)
        assert await lanes.redrive(job_id=dead) == 1
        await asyncio.wait_for(parked, SOON_S)
        jobs = await lanes.claim(9)
    assert [job.id for job in jobs] == [dead]
    assert await lanes.redrive(A) == 1
    assert await lanes.claim(9) == []
    await lanes.complete(jobs)
    assert await claimed_ids(lanes, 9) == [other]
