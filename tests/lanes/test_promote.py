"""promote: due jobs go to their own lanes."""

from __future__ import annotations

import time

import pytest
from redis.asyncio import Redis

from engine.lanes import Lanes, Submission
from tests.lanes.counting import Counted
from tests.lanes.naming import ANA, A, B, new_job, new_jobs
from tests.lanes.oracle import Oracle
from tests.lanes.sizes import scaled
from tests.lanes.steps import claimed_ids, fill, past, server_ms
from tests.lanes.travelling import travel
from tests.lanes.watching import WatchedRedis


async def schedule(lanes: Lanes, redis: Redis, group: str, count: int, lane: str | None = None) -> list[str]:
    """Admit jobs with a short delay, and return once it is over."""
    admitted = new_jobs(count)
    await lanes.enqueue_many([Submission(group, job_id, b"", lane=lane, delay_ms=1) for job_id in admitted])
    await past(redis, await server_ms(redis) + 1)
    return admitted


async def test_a_job_that_is_not_due_stays(lanes: Lanes) -> None:
    await lanes.enqueue(A, new_job(), b"", delay_ms=3_600_000)
    assert await lanes.promote(10) == 0
    assert await lanes.depth(A) == 1


async def test_nothing_to_promote_is_fine(lanes: Lanes) -> None:
    assert await lanes.promote(10) == 0


async def test_a_due_job_waits_in_its_own_lane(lanes: Lanes, redis: Redis, oracle: Oracle) -> None:
    (job_id,) = await schedule(lanes, redis, A, 1, lane=ANA)
    assert await lanes.promote(10) == 1
    state = await oracle.look()
    assert [job for job, _ in state.waiting[A, ANA]] == [job_id]
    assert (state.schedule, state.ring) == ([], [A])
    assert await lanes.depth(A) == 1


async def test_promotion_is_bounded_and_progresses_every_call(lanes: Lanes, redis: Redis) -> None:
    await schedule(lanes, redis, A, 7)
    assert [await lanes.promote(3) for _ in range(4)] == [3, 3, 1, 0]


async def test_a_promoted_job_takes_the_place_of_its_admission(lanes: Lanes, redis: Redis) -> None:
    early = await schedule(lanes, redis, A, 1)
    later = await fill(lanes, A, 1)
    await lanes.promote(10)
    assert await claimed_ids(lanes, 9) == early + later


@pytest.mark.case("L15")
async def test_due_jobs_of_a_full_group_are_promoted_and_wait_off_the_ring(
    lanes: Lanes, redis: Redis, oracle: Oracle
) -> None:
    await lanes.limit(A, 1)
    await fill(lanes, A, 1)
    running = await lanes.claim()
    admitted = await schedule(lanes, redis, A, 5)
    await schedule(lanes, redis, B, 1)
    assert await lanes.promote(10) == 6
    assert (await oracle.look()).ring == [B]
    await lanes.complete(running)
    assert [job.id for job in await lanes.claim(9) if job.group == A] == admitted[:1]


@pytest.mark.case("L21")
async def test_a_due_job_of_a_paused_group_stays_there(lanes: Lanes, redis: Redis) -> None:
    admitted = await schedule(lanes, redis, A, 1)
    await lanes.pause(A)
    assert await lanes.promote(10) == 1
    assert await lanes.claim() == []
    await lanes.resume(A)
    assert await claimed_ids(lanes, 9) == admitted


@pytest.mark.case("L15")
async def test_a_crowd_of_due_jobs_of_a_barred_group_delays_nobody(lanes: Lanes, redis: Redis) -> None:
    """A claim's housekeeping is bounded: where it was spent in vain, the wait returns at once."""
    await lanes.pause(A)
    await schedule(lanes, redis, A, 300)
    admitted = await schedule(lanes, redis, B, 1)
    for _ in range(10):
        if served := await claimed_ids(lanes, 9):
            assert served == admitted
            return
        began = time.monotonic()
        await lanes.wait(4_000)
        assert time.monotonic() - began < 1.5
    pytest.fail("the due job of the other group was never served")


@pytest.mark.case("L15")
@pytest.mark.timeout(900)
async def test_a_flood_of_due_jobs_of_full_groups_is_promoted_in_bounded_steps(
    redis: WatchedRedis, lanes: Lanes
) -> None:
    """Every claim makes progress, none pays for the whole flood, and who is not full is served meanwhile."""
    flood, hour_ms = scaled(4_000, 1_000_000), 3_600_000
    with redis.unwatched():
        try:
            await lanes.limit(A, 1)
            await fill(lanes, A, 1)
            await lanes.claim(1, 2 * hour_ms)
            for first in range(0, flood, 10_000):
                names = new_jobs(min(10_000, flood - first))
                await lanes.enqueue_many([Submission(A, job_id, b"", delay_ms=hour_ms) for job_id in names])
            await travel(redis, hour_ms)
            admitted = await fill(lanes, B, 3)
            calls = []
            for expected in admitted:
                async with Counted(redis) as counted:
                    (job,) = await lanes.claim(1, hour_ms)
                assert job.id == expected
                calls.append(counted.calls)
            assert max(calls) < 64 * 20
            assert await redis.zcount("emq:{cm}:schedule", 0, await server_ms(redis)) == flood - 64 * len(calls)
            rounds = 0
            while await lanes.promote(10_000):
                rounds += 1
            assert rounds == -(-(flood - 64 * len(calls)) // 10_000)
            assert await lanes.claim(9) == []
            assert await lanes.depth(A) == flood
        finally:
            await redis.flushall()  # a last look at all of it would take longer than the test
