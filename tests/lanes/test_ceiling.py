"""I2 under many claimers and levers at the same instant."""

from __future__ import annotations

import asyncio
import random

import pytest

from engine.lanes import Job, Lanes, Reassignment
from tests.lanes.naming import ANA, BEN, A, B
from tests.lanes.oracle import Oracle
from tests.lanes.sizes import scaled
from tests.lanes.steps import fill
from tests.lanes.watching import WatchedRedis

CEILINGS = {A: 2, B: 3}
JOBS = scaled(80, 3_000)


class Crowd:
    """Claimers that count what they hold, and somebody who pulls every lever meanwhile."""

    def __init__(self, lanes: Lanes, impatient: Lanes) -> None:
        self._lanes = lanes
        self._impatient = impatient
        self._held: dict[str, set[str]] = {A: set(), B: set()}
        self.most = {A: 0, B: 0}
        self.done = self.moved = self.redriven = 0

    async def claim(self, number: int) -> None:
        chance = random.Random(number)  # noqa: S311 - no secret
        while self.done < JOBS:
            jobs = await self._lanes.claim(10)
            for job in jobs:
                held = self._held[job.group]
                held.add(job.id)
                self.most[job.group] = max(self.most[job.group], len(held))
            for job in jobs:
                await self._settle(chance, job)
            if not jobs:
                await self._lanes.wait(5)

    async def _settle(self, chance: random.Random, job: Job) -> None:
        self._held[job.group].discard(job.id)  # before it is sent: the slot is free once the server has it
        match chance.randrange(6):
            case 0:
                await self._lanes.retry(job, "broken", delay_ms=chance.randrange(3))
            case 1:
                await self._lanes.release([job])
            case 2:
                await self._impatient.retry(job, "given up")
            case _:
                await self._lanes.complete([job])
                self.done += 1

    async def pull_levers(self) -> None:
        chance = random.Random(0)  # noqa: S311 - no secret
        while self.done < JOBS:
            group = chance.choice((A, B))
            await chance.choice((self._lanes.pause, self._lanes.resume))(group)
            await self._lanes.resume(group)
            await self._lanes.limit(A, CEILINGS[A])
            await self._lanes.limit(B, chance.choice((1, 2, CEILINGS[B])))
            *_, redriven = await asyncio.gather(
                self._lanes.promote(10), self._lanes.reap(10), self._lanes.redrive(limit=10)
            )
            self.redriven += redriven
            await self._move(chance)

    async def _move(self, chance: random.Random) -> None:
        """Move some of what waits to the other group, or to another lane."""
        waiting = [record.id for group in (A, B) for record in await self._lanes.browse(group, 5)]
        moves = (self._lanes.reassign(job_id, chance.choice((A, B)), chance.choice((ANA, BEN))) for job_id in waiting)
        self.moved += (await asyncio.gather(*moves)).count(Reassignment.reassigned)

    async def watch(self, oracle: Oracle) -> None:
        while self.done < JOBS:
            await oracle.check()


@pytest.mark.case("L6")
@pytest.mark.timeout(900)
async def test_no_group_exceeds_its_ceiling_under_many_claimers_and_levers(redis: WatchedRedis, oracle: Oracle) -> None:
    lanes = Lanes(redis, "cm", max_attempts=None)
    oracle.ceilings_move = True  # B's does: between two looks it may have been higher than either shows
    crowd = Crowd(lanes, Lanes(redis, "cm", max_attempts=1))
    with redis.unwatched():
        for group, ceiling in CEILINGS.items():
            await lanes.limit(group, ceiling)
            await lanes.weight(group, ceiling + 1)  # a visit is worth more than the ceiling allows
            for lane in (ANA, BEN):
                await fill(lanes, group, JOBS // 4, lane=lane)
        claimers = (crowd.claim(number) for number in range(64))
        await asyncio.wait_for(asyncio.gather(crowd.pull_levers(), crowd.watch(oracle), *claimers), scaled(60, 600))
    for group, ceiling in CEILINGS.items():
        assert 1 <= crowd.most[group] <= ceiling
        assert 1 <= oracle.most_active[group] <= ceiling
    assert crowd.moved > 0
    assert crowd.redriven > 0
