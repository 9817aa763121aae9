"""A server that is out of memory and evicts nothing: admissions are refused whole; all that ends jobs goes on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from redis.asyncio import Redis
from redis.exceptions import OutOfMemoryError

from engine.lanes import Job, Lanes, State, Submission
from tests.lanes.naming import ANA, BEN, A, B, C, new_job, new_jobs
from tests.lanes.oracle import Oracle
from tests.lanes.steps import fill, settle_all
from tests.lanes.travelling import travel
from tests.lanes.watching import WatchedRedis

HOUR_MS = 3_600_000
Verb = Callable[[Lanes, Job], Awaitable[object]]


@asynccontextmanager
async def out_of_memory(redis: Redis, spare: int = 0) -> AsyncIterator[None]:
    """Let the server take ``spare`` bytes more, and no others."""
    used = int((await redis.info("memory"))["used_memory"])
    await redis.config_set("maxmemory", used + spare if spare else 1)
    try:
        yield
    finally:
        await redis.config_set("maxmemory", 0)


async def busy(lanes: Lanes, redis: Redis) -> Job:
    """A queue with something in every state; answers a live lease on a job of A."""
    for group in (A, B):
        for lane in (ANA, BEN):
            await fill(lanes, group, 3, lane=lane)
    await lanes.limit(A, 2)
    first, second, *_ = (job for job in await lanes.claim(9, HOUR_MS) if job.group == A)
    await lanes.retry(second, "broken")
    await fill(lanes, C, 1)
    await lanes.claim(1, HOUR_MS)
    await travel(redis, HOUR_MS)  # all leases have lapsed by now
    await lanes.enqueue(A, new_job(), b"", delay_ms=HOUR_MS)
    return first


ENDING: dict[str, Verb] = {
    "complete": lambda lanes, job: lanes.complete([job]),
    "complete with a cool-down": lambda lanes, job: lanes.complete([job], HOUR_MS),
    "exchange": lambda lanes, job: lanes.exchange([job], 5, HOUR_MS),
    "retry": lambda lanes, job: lanes.retry(job, "x" * 900, 0),
    "retry later": lambda lanes, job: lanes.retry(job, "x" * 900, HOUR_MS),
    "release": lambda lanes, job: lanes.release([job]),
    "extend": lambda lanes, job: lanes.extend([job], HOUR_MS),
    "reap": lambda lanes, _: lanes.reap(),
    "reap_group": lambda lanes, _: lanes.reap_group(A),
    "promote": lambda lanes, _: lanes.promote(),
    "claim": lambda lanes, _: lanes.claim(9, HOUR_MS),
    "claim_group": lambda lanes, _: lanes.claim_group(9, HOUR_MS),
    "drain": lambda lanes, _: lanes.drain(A),
    "forget": lambda lanes, _: lanes.forget(A),
    "pause": lambda lanes, _: lanes.pause(B),
    "limit": lambda lanes, _: lanes.limit(B, 1),
    "audit": lambda lanes, _: lanes.audit(repair=True),
}


@pytest.mark.case("L4")
@pytest.mark.parametrize("verb", ENDING)
async def test_a_full_server_still_lets_jobs_end(redis: WatchedRedis, oracle: Oracle, verb: str) -> None:
    """Refusing these would keep the memory from ever being freed; the invariants hold after each script."""
    lanes = Lanes(redis, "cm", max_attempts=None)
    job = await busy(lanes, redis)
    before = set((await oracle.look()).records)
    async with out_of_memory(redis):
        await ENDING[verb](lanes, job)
    assert (await lanes.audit()).clean
    left = set((await oracle.look()).records)
    gone = before - left
    assert gone <= ({job.id} if verb not in {"drain", "forget"} else before)
    held = [record.id for record in await lanes.browse(None, 99, State.leased)]
    later = [record.id for record in await lanes.browse(None, 99, State.scheduled)]
    for group in (A, B):
        await lanes.limit(group, None)
    await lanes.hold(A, None)
    await lanes.resume(B)
    served = [each.id for each in await settle_all(lanes)]
    assert len(served) == len(set(served))
    assert set(served) | set(held) | set(later) == left


@pytest.mark.case("L4")
async def test_a_full_server_refuses_an_admission_before_its_first_change(redis: WatchedRedis, oracle: Oracle) -> None:
    lanes = Lanes(redis, "cm", max_attempts=1)
    await fill(lanes, A, 1)
    for job in await lanes.claim():
        await lanes.retry(job, "broken")
    before = await oracle.raw()
    async with out_of_memory(redis):
        with pytest.raises(OutOfMemoryError):
            await lanes.enqueue(A, new_job(), b"", dedup="message")
        with pytest.raises(OutOfMemoryError):
            await lanes.enqueue_many([Submission(A, job_id, b"") for job_id in new_jobs(3)])
        with pytest.raises(OutOfMemoryError):
            await lanes.redrive()
    assert await oracle.raw() == before


@pytest.mark.case("L4")
async def test_memory_that_runs_out_in_the_middle_of_a_bulk_leaves_each_job_whole(
    redis: WatchedRedis, oracle: Oracle
) -> None:
    """What was admitted is served once, what was refused is not there, and may be handed in again."""
    lanes = Lanes(redis, "cm")
    jobs = [Submission(A, job_id, bytes(60_000)) for job_id in new_jobs(300)]
    async with out_of_memory(redis, spare=6_000_000):
        with pytest.raises(OutOfMemoryError):
            await lanes.enqueue_many(jobs)
    admitted = set((await oracle.look()).records)
    assert 0 < len(admitted) < len(jobs)
    answers = await lanes.enqueue_many(jobs)
    assert {job.job_id for job, answer in zip(jobs, answers, strict=True) if answer == "duplicate"} == admitted
    with redis.unwatched():
        assert sorted(job.id for job in await settle_all(lanes)) == sorted(job.job_id for job in jobs)
