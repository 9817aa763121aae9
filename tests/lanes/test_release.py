"""release: an unrun job goes back to its place with its attempts unburnt."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from engine.lanes import Lanes, Verdict
from tests.lanes.naming import ANA, BEN, A, B
from tests.lanes.steps import claimed_ids, fill, lapse


@pytest.mark.case("L9")
async def test_a_released_job_is_back_at_the_head_with_its_attempts_unburnt(lanes: Lanes) -> None:
    admitted = await fill(lanes, A, 3, lane=ANA)
    for _ in range(10):
        jobs = await lanes.claim(2)
        assert [(job.id, job.attempts) for job in jobs] == [(admitted[0], 1), (admitted[1], 1)]
        assert await lanes.release(jobs) == [Verdict.ok, Verdict.ok]
    assert await claimed_ids(lanes, 3) == admitted


@pytest.mark.case("L9")
async def test_a_job_released_into_a_pause_waits_there_with_its_attempts_unburnt(lanes: Lanes) -> None:
    first, second = await fill(lanes, A, 2)
    jobs = await lanes.claim()
    await lanes.pause(A)
    assert await lanes.release(jobs) == [Verdict.ok]
    assert await lanes.claim() == []
    await lanes.resume(A)
    assert [(job.id, job.attempts) for job in await lanes.claim(2)] == [(first, 1), (second, 1)]


async def test_a_released_job_is_never_buried(redis: Redis) -> None:
    lanes = Lanes(redis, "cm", max_attempts=1)
    (job_id,) = await fill(lanes, A, 1)
    for _ in range(3):
        assert await lanes.release(await lanes.claim()) == [Verdict.ok]
    assert await claimed_ids(lanes, 1) == [job_id]


async def test_a_retry_that_was_released_keeps_the_attempts_it_had(lanes: Lanes) -> None:
    await fill(lanes, A, 1)
    (job,) = await lanes.claim()
    await lanes.retry(job, "broken", delay_ms=0)
    await lanes.release(await lanes.claim())
    (job,) = await lanes.claim()
    assert job.attempts == 2


async def test_a_released_lease_cannot_be_used_again(lanes: Lanes) -> None:
    await fill(lanes, A, 1)
    (job,) = await lanes.claim()
    await lanes.release([job])
    assert await lanes.release([job]) == [Verdict.stale]
    assert await lanes.complete([job]) == [Verdict.stale]
    (again,) = await lanes.claim()
    assert await lanes.complete([job]) == [Verdict.stale]
    assert await lanes.complete([again]) == [Verdict.ok]


async def test_a_lapsed_lease_nobody_took_back_may_be_released(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 1)
    jobs = await lanes.claim(lease_ms=1)
    await lapse(redis, jobs)
    assert await lanes.release(jobs) == [Verdict.ok]
    (job,) = await lanes.claim()
    assert job.attempts == 1


@pytest.mark.case("L5")
async def test_releasing_frees_the_slot_at_once(lanes: Lanes) -> None:
    await lanes.limit(A, 1)
    first, _ = await fill(lanes, A, 2)
    await lanes.release(await lanes.claim(9))
    assert await claimed_ids(lanes, 9) == [first]


async def test_verdicts_come_in_the_order_asked_and_each_job_goes_to_its_own_lane(lanes: Lanes) -> None:
    first = await fill(lanes, A, 2, lane=ANA)
    second = await fill(lanes, A, 2, lane=BEN)
    third = await fill(lanes, B, 1)
    one, two, three = await lanes.claim(3)
    assert [one.id, two.id, three.id] == [first[0], third[0], second[0]]
    await lanes.complete([two])
    assert await lanes.release([three, two, one]) == [Verdict.ok, Verdict.stale, Verdict.ok]
    served = await lanes.claim(9)
    assert [job.id for job in served if job.lane == ANA] == first
    assert [job.id for job in served if job.lane == BEN] == second


async def test_nothing_to_release_is_fine(lanes: Lanes) -> None:
    assert await lanes.release([]) == []
