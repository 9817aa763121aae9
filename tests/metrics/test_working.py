"""What befalls a worker is counted, by its queue."""

from __future__ import annotations

import asyncio

import pytest
from redis.asyncio import Redis

from bot.metrics import Meters
from engine.lanes import Job, Lanes, Shift, Worker
from engine.workers.adapters import SETTLEMENTS
from tests.lanes.naming import A, B
from tests.lanes.steps import fill
from tests.lanes.working import at_work
from tests.waiting import wait_until


@pytest.fixture
def lanes(redis: Redis) -> Lanes:
    return Lanes(redis, "cm", max_attempts=2, backoff_ms=1, backoff_ceiling_ms=1)


def told(meters: Meters, name: str, queue: str = "cm", **labels: str) -> float | None:
    return meters.registry.get_sample_value(f"codemojex_{name}", {"queue": queue, **labels})


def worker(lanes: Lanes, handle: object, meters: Meters, shift: Shift) -> Worker:
    assert callable(handle)
    return Worker(lanes, handle, shift, meters.work.of(lanes.queue, shift.lease_ms))


async def test_jobs_and_claims_are_counted_also_the_claims_that_got_nothing(lanes: Lanes, meters: Meters) -> None:
    await fill(lanes, A, 7)
    await fill(lanes, B, 2)

    async def handle(jobs: list[Job]) -> None:
        del jobs

    async with at_work(worker(lanes, handle, meters, Shift(batch=4, at_once=1, together=True))):
        await wait_until(lambda: (told(meters, "claim_seconds_count") or 0) >= 4, "a claim got nothing")
    assert told(meters, "jobs_claimed_total") == 9
    assert told(meters, "job_wait_seconds_count") == 9
    assert told(meters, "job_wait_seconds_bucket", le="+Inf") == 9
    assert meters.work.lately["cm"].counted() == ({A: 7, B: 2}, 0)
    age_s = told(meters, "claim_age_seconds")
    assert age_s is not None
    assert 0 <= age_s < 10
    assert [told(meters, f"{name}_total") for name in ("jobs_retried", "jobs_buried", "jobs_released")] == [0, 0, 0]


async def test_a_job_that_fails_is_a_retry_and_then_buried(lanes: Lanes, meters: Meters) -> None:
    await fill(lanes, A, 1)

    async def handle(jobs: list[Job]) -> None:
        raise ValueError(f"no good: {len(jobs)}")

    async with at_work(worker(lanes, handle, meters, Shift(outside=()))):
        await wait_until(lambda: told(meters, "jobs_buried_total") == 1, "it is buried")
    assert told(meters, "jobs_retried_total") == 1
    assert told(meters, "job_wait_seconds_count") == 1, "the first claim alone"


async def test_what_goes_back_because_something_is_broken_is_released(lanes: Lanes, meters: Meters) -> None:
    await fill(lanes, A, 3)
    broken = True

    async def handle(jobs: list[Job]) -> None:
        del jobs
        if broken:
            raise OSError("away")

    async with at_work(worker(lanes, handle, meters, Shift(together=True))):
        await wait_until(lambda: (told(meters, "jobs_released_total") or 0) >= 3, "they went back")
        broken = False
        await wait_until(lambda: _depth(lanes), "they are done", 20_000)
    assert (told(meters, "worker_failures_total") or 0) >= 1


async def _depth(lanes: Lanes) -> bool:
    return not await lanes.depth(A)


async def test_a_lease_that_ends_under_its_handler_is_lost(lanes: Lanes, meters: Meters) -> None:
    await fill(lanes, A, 1)
    begun = asyncio.Event()

    async def handle(jobs: list[Job]) -> None:
        del jobs
        begun.set()
        await asyncio.Event().wait()

    async with at_work(worker(lanes, handle, meters, Shift(lease_ms=1_500))):
        await begun.wait()
        await lanes.forget(A)
        await wait_until(lambda: told(meters, "leases_lost_total") == 1, "the loss is told")


async def test_settlements_have_no_wait(redis: Redis, meters: Meters) -> None:
    """They wait for their rounds' deadlines, minutes from now."""
    lanes = Lanes(redis, SETTLEMENTS, job_kind=None)
    await fill(lanes, A, 1)
    meters.work.of(SETTLEMENTS, 30_000).claimed(await lanes.claim(1))
    assert told(meters, "jobs_claimed_total", SETTLEMENTS) == 1
    assert told(meters, "job_wait_seconds_count", SETTLEMENTS) is None
