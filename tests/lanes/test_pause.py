"""pause and resume: a group's jobs stay where they are, and nothing of them runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

import pytest
from redis.asyncio import Redis

from engine.lanes import Job, Lanes, Verdict
from tests.lanes.naming import A, B, C, new_job
from tests.lanes.oracle import Oracle
from tests.lanes.parking import LONG_MS, SOON_S, blocked
from tests.lanes.steps import claimed_ids, fill, lapse, past, server_ms, settle_all
from tests.lanes.travelling import travel
from tests.lanes.watching import WatchedRedis

HOUR_MS = 3_600_000


@pytest.mark.case("L21")
async def test_nothing_of_a_paused_group_is_claimed(lanes: Lanes) -> None:
    await fill(lanes, A, 3)
    await fill(lanes, B, 2)
    await lanes.pause(A)
    assert [job.group for job in await lanes.claim(9)] == [B, B]
    assert await lanes.claim_group(9) == []
    assert await lanes.depth(A) == 3


@pytest.mark.case("L21")
async def test_jobs_that_come_back_to_a_paused_group_stay_there(lanes: Lanes, redis: Redis) -> None:
    admitted = await fill(lanes, A, 4)
    retried, released = await lanes.claim(2)
    lapsed = await lanes.claim(1, lease_ms=1)
    delayed = new_job()
    await lanes.enqueue(A, delayed, b"", delay_ms=1)
    await lapse(redis, lapsed)
    await past(redis, await server_ms(redis) + 1)
    await lanes.pause(A)
    assert await lanes.retry(retried, "broken", delay_ms=0) is Verdict.ok
    assert await lanes.release([released]) == [Verdict.ok]
    assert await lanes.reap(10) == 1
    assert await lanes.promote(10) == 1
    assert await lanes.claim(9) == []
    await lanes.resume(A)
    assert await claimed_ids(lanes, 9) == [*admitted, delayed]


@pytest.mark.case("L21")
async def test_a_claims_own_housekeeping_does_not_run_a_paused_group(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 2)
    await lanes.enqueue(A, new_job(), b"", delay_ms=1)
    (cooling,) = await lanes.claim()
    lapsed = await lanes.claim(1, lease_ms=1)
    await lanes.pause(A)
    await lanes.complete([cooling], cooldown_ms=1)
    await lapse(redis, lapsed)
    await past(redis, await server_ms(redis) + 1)
    assert await lanes.claim(9) == []
    await lanes.resume(A)
    assert len(await lanes.claim(9)) == 2


@pytest.mark.case("L21")
async def test_resuming_another_group_resumes_that_one_only(lanes: Lanes) -> None:
    for group in (A, B):
        await fill(lanes, group, 1)
        await lanes.pause(group)
    await lanes.resume(B)
    assert [job.group for job in await lanes.claim(9)] == [B]


@pytest.mark.case("L21")
async def test_pausing_an_unknown_group_sticks(lanes: Lanes, oracle: Oracle) -> None:
    await lanes.pause(A)
    await fill(lanes, A, 1)
    assert await lanes.claim() == []
    assert (await oracle.look()).paused == {A}


@pytest.mark.case("L21")
async def test_paused_twice_resumed_once_is_resumed(lanes: Lanes) -> None:
    await fill(lanes, A, 1)
    await lanes.pause(A)
    await lanes.pause(A)
    await lanes.resume(A)
    assert len(await lanes.claim()) == 1


@pytest.mark.case("L21")
async def test_a_parked_worker_is_not_served_from_a_paused_group_and_is_once_it_resumes(lanes: Lanes) -> None:
    await lanes.pause(A)
    await fill(lanes, A, 1)

    async def worker() -> list[str]:
        while True:
            if ids := await claimed_ids(lanes, 9):
                return ids
            await lanes.wait(2_000)

    parked = asyncio.create_task(worker())
    done, _ = await asyncio.wait([parked], timeout=0.1)
    assert not done
    await lanes.resume(A)
    assert len(await asyncio.wait_for(parked, 1)) == 1


Come = Callable[[Lanes, WatchedRedis], Awaitable[Callable[[], Awaitable[object]]]]
"""Prepares, before the pause, what then comes to group A by one way."""


async def admitted(lanes: Lanes, _: WatchedRedis) -> Callable[[], Awaitable[object]]:
    return lambda: fill(lanes, A, 1)


async def due(lanes: Lanes, redis: WatchedRedis) -> Callable[[], Awaitable[object]]:
    await lanes.enqueue(A, new_job(), b"", delay_ms=HOUR_MS)
    return partial(later, redis, lanes.promote)


async def retried(lanes: Lanes, _: WatchedRedis) -> Callable[[], Awaitable[object]]:
    await fill(lanes, A, 1)
    (job,) = await lanes.claim()
    return lambda: lanes.retry(job, "broken", 0)


async def released(lanes: Lanes, _: WatchedRedis) -> Callable[[], Awaitable[object]]:
    await fill(lanes, A, 1)
    jobs = await lanes.claim()
    return lambda: lanes.release(jobs)


async def reaped(lanes: Lanes, redis: WatchedRedis) -> Callable[[], Awaitable[object]]:
    await fill(lanes, A, 1)
    await lanes.claim(1, HOUR_MS)
    return partial(later, redis, lanes.reap)


async def redriven(lanes: Lanes, redis: WatchedRedis) -> Callable[[], Awaitable[object]]:
    await fill(lanes, A, 1)
    (job,) = await lanes.claim()
    assert await Lanes(redis, "cm", max_attempts=1).retry(job, "broken") is Verdict.dead
    return lambda: lanes.redrive(A)


async def reassigned(lanes: Lanes, _: WatchedRedis) -> Callable[[], Awaitable[object]]:
    await lanes.pause(C)
    (job_id,) = await fill(lanes, C, 1)
    return lambda: lanes.reassign(job_id, A)


async def later(redis: WatchedRedis, then: Callable[[], Awaitable[object]]) -> None:
    await travel(redis, HOUR_MS)
    await then()


@pytest.mark.case("L21")
@pytest.mark.parametrize("come", [admitted, due, retried, released, reaped, redriven, reassigned])
async def test_whatever_comes_to_a_paused_group_waits_for_its_resumption_though_a_worker_is_parked(
    lanes: Lanes, redis: WatchedRedis, come: Come
) -> None:
    comes = await come(lanes, redis)
    await lanes.pause(A)
    await lanes.pause(B)
    (of_another,) = await fill(lanes, B, 1)
    await lanes.wait(1)  # takes what woke before
    parked = asyncio.create_task(served(lanes))
    await blocked(redis, 1)
    await comes()
    assert await lanes.depth(A) == 1
    await lanes.resume(B)  # the worker looks, and finds nothing else
    (job,) = await asyncio.wait_for(parked, SOON_S)
    assert job.id == of_another
    parked = asyncio.create_task(served(lanes))
    await blocked(redis, 1)
    await lanes.resume(A)
    assert [job.group for job in await asyncio.wait_for(parked, SOON_S)] == [A]


async def served(lanes: Lanes) -> list[Job]:
    """What a worker claims next, parked until then."""
    while not (jobs := await lanes.claim(9)):
        await lanes.wait(LONG_MS)
    return jobs


async def test_resuming_a_group_that_was_not_paused_changes_nothing(lanes: Lanes, oracle: Oracle) -> None:
    await lanes.resume(A)
    assert (await oracle.look()).groups == set()
    await fill(lanes, A, 2)
    await lanes.resume(A)
    assert (await oracle.look()).ring == [A]


async def test_resuming_a_full_group_does_not_overfill_it(lanes: Lanes) -> None:
    await lanes.limit(A, 1)
    await fill(lanes, A, 2)
    await lanes.claim()
    await lanes.pause(A)
    await lanes.resume(A)
    assert await lanes.claim() == []


async def test_what_runs_while_the_group_is_paused_may_still_settle(lanes: Lanes) -> None:
    await fill(lanes, A, 1)
    jobs = await lanes.claim()
    await lanes.pause(A)
    assert await lanes.extend(jobs, 60_000) == [Verdict.ok]
    assert await lanes.complete(jobs) == [Verdict.ok]


async def test_a_resumed_group_joins_the_tail(lanes: Lanes, oracle: Oracle) -> None:
    for group in (A, B):
        await fill(lanes, group, 2)
    await lanes.pause(A)
    await lanes.resume(A)
    assert (await oracle.look()).ring == [B, A]


async def test_pausing_in_mid_visit_forfeits_the_rest_of_the_visit(lanes: Lanes) -> None:
    await lanes.enqueue(A, new_job(), b"", weight=3)
    await fill(lanes, A, 8)
    await fill(lanes, B, 3)
    assert [job.group for job in await lanes.claim(1)] == [A]
    await lanes.pause(A)
    assert [job.group for job in await lanes.claim(1)] == [B]
    await lanes.resume(A)
    assert [job.group for job in await lanes.claim(5)] == [B, A, A, A, B]


async def test_a_pause_is_a_lever_and_outlives_the_jobs(lanes: Lanes, oracle: Oracle) -> None:
    await fill(lanes, A, 1)
    jobs = await lanes.claim()
    await lanes.pause(A)
    await lanes.complete(jobs)
    state = await oracle.look()
    assert (state.paused, state.ring, state.waiting) == ({A}, [], {})
    await lanes.resume(A)
    assert (await oracle.look()).groups == set()
    assert await settle_all(lanes) == []
