"""Cancelling a verb: it always arrives, whenever it comes, and loses no job."""

from __future__ import annotations

import asyncio
import random

import pytest

from engine.lanes import Lanes, Verdict
from tests.lanes.naming import A
from tests.lanes.sizes import scaled
from tests.lanes.steps import fill, settle_all
from tests.lanes.watching import WatchedRedis

CANCELS = scaled(120, 10_000)


@pytest.mark.case("L24")
@pytest.mark.parametrize("steps", range(40))
async def test_a_cancellation_arrives_wherever_in_a_verb_it_comes(
    lanes: Lanes, redis: WatchedRedis, steps: int
) -> None:
    async def worker() -> None:
        while True:
            await lanes.claim()
            await lanes.wait(5_000)

    with redis.unwatched():
        await lanes.claim()
        working = asyncio.create_task(worker())
        for _ in range(steps):
            await asyncio.sleep(0)
        working.cancel()
        done, _ = await asyncio.wait([working], timeout=1)
        assert working in done
        assert working.cancelled()


@pytest.mark.case("L24")
@pytest.mark.timeout(900)
async def test_cancelling_workers_at_any_time_loses_no_job(redis: WatchedRedis) -> None:
    lanes = Lanes(redis, "cm", max_attempts=None)
    chance = random.Random()  # noqa: S311 - no secret; the seed is the test run's
    ran: set[str] = set()
    completed: list[str] = []

    async def worker() -> None:
        while True:
            jobs = await lanes.claim(1, lease_ms=5)
            ran.update(job.id for job in jobs)
            if await lanes.complete(jobs) == [Verdict.ok]:
                completed.append(jobs[0].id)
            await lanes.wait(5_000)

    with redis.unwatched():
        admitted: list[str] = []
        for _ in range(CANCELS):
            working = asyncio.create_task(worker())
            admitted += await fill(lanes, A, 1)
            await asyncio.wait([working], timeout=chance.random() * 0.005)
            working.cancel()
            done, _ = await asyncio.wait([working], timeout=1)
            assert working in done
            assert working.cancelled()

        async def rest_is_served() -> bool:
            rest = [job.id for job in await settle_all(lanes)]
            completed.extend(rest)
            ran.update(rest)
            return await lanes.oldest(A) is None

        while not await rest_is_served():
            await lanes.wait(50)  # for the leases that the cancelled left behind
    assert ran == set(admitted)
    # A completion whose answer was cancelled is done though nobody heard of it.
    assert set(completed) <= ran
    assert len(completed) == len(set(completed))


async def test_a_worker_that_was_cancelled_may_still_give_its_jobs_back(lanes: Lanes) -> None:
    admitted = await fill(lanes, A, 2)
    claimed = asyncio.Event()

    async def worker() -> None:
        jobs = await lanes.claim(2)
        claimed.set()
        try:
            await lanes.wait(5_000)
            await asyncio.Event().wait()
        finally:
            assert await lanes.release(jobs) == [Verdict.ok, Verdict.ok]

    working = asyncio.create_task(worker())
    await claimed.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert [(job.id, job.attempts) for job in await lanes.claim(9)] == [(job_id, 1) for job_id in admitted]
