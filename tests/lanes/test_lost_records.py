"""A job whose record was deleted out of band: its slot and its place come back, and nobody else notices."""

from __future__ import annotations

from dataclasses import replace

import pytest
from redis.asyncio import Redis

from engine.lanes import Admission, Lanes, Verdict
from tests.lanes.naming import ANA, BEN, A, B, new_job
from tests.lanes.oracle import Oracle
from tests.lanes.steps import claimed_ids, fill, lapse, past, server_ms
from tests.lanes.watching import WatchedRedis

pytestmark = pytest.mark.case("L2")


@pytest.fixture(autouse=True)
def _ghosts_are_no_fault(oracle: Oracle) -> None:
    oracle.ghosts = True


async def lose(redis: Redis, *job_ids: str) -> None:
    assert await redis.delete(*(f"emq:{{cm}}:j:{job_id}" for job_id in job_ids)) == len(job_ids)


async def test_reaping_a_lease_without_a_job_frees_its_slot(lanes: Lanes, redis: Redis, oracle: Oracle) -> None:
    await lanes.limit(A, 1)
    first, second = await fill(lanes, A, 2)
    jobs = await lanes.claim(9, lease_ms=1)
    await lose(redis, first)
    await lapse(redis, jobs)
    assert await lanes.reap(10) == 1
    assert (await oracle.look()).gactive == {}
    assert await claimed_ids(lanes, 9) == [second]


async def test_a_claim_itself_frees_the_slot_of_a_lease_without_a_job(lanes: Lanes, redis: Redis) -> None:
    await lanes.limit(A, 1)
    first, second = await fill(lanes, A, 2)
    jobs = await lanes.claim(9, lease_ms=1)
    await lose(redis, first)
    await lapse(redis, jobs)
    assert await claimed_ids(lanes, 9) == [second]


@pytest.mark.parametrize("how", ["complete", "complete with a cool-down", "release", "retry", "retry later"])
async def test_settling_a_lease_without_a_job_answers_gone_and_frees_its_slot(
    lanes: Lanes, redis: Redis, oracle: Oracle, how: str
) -> None:
    await lanes.limit(A, 1)
    first, second = await fill(lanes, A, 2)
    (job,) = await lanes.claim(9)
    await lose(redis, first)
    verdicts: dict[str, Verdict] = {}
    if how == "complete":
        (verdicts[how],) = await lanes.complete([job])
    elif how == "complete with a cool-down":
        (verdicts[how],) = await lanes.complete([job], cooldown_ms=1)
        await past(redis, await server_ms(redis) + 1)
    elif how == "release":
        (verdicts[how],) = await lanes.release([job])
    else:
        verdicts[how] = await lanes.retry(job, "broken", delay_ms=0 if how == "retry" else 3_600_000)
    assert verdicts == {how: Verdict.gone}
    assert (await oracle.look()).gactive == {}
    assert await claimed_ids(lanes, 9) == [second]
    assert await lanes.complete([job]) == [Verdict.stale]


async def test_extending_a_lease_without_a_job_answers_gone_and_frees_its_slot(
    lanes: Lanes, redis: Redis, oracle: Oracle
) -> None:
    (first,) = await fill(lanes, A, 1)
    jobs = await lanes.claim()
    await lose(redis, first)
    assert await lanes.extend(jobs, 60_000) == [Verdict.gone]
    assert (await oracle.look()).groups == set()


async def test_a_taken_group_comes_back_when_its_last_lease_has_no_job(lanes: Lanes, redis: Redis) -> None:
    first, second = await fill(lanes, A, 2)
    jobs = await lanes.claim_group(1)
    await lose(redis, first)
    assert await lanes.complete(jobs) == [Verdict.gone]
    assert await claimed_ids(lanes, 9) == [second]


async def test_a_waiting_id_without_a_job_is_passed_over(lanes: Lanes, redis: Redis) -> None:
    first, second, third = await fill(lanes, A, 3)
    other = await fill(lanes, B, 1)
    await lose(redis, first, second)
    assert await claimed_ids(lanes, 9) == [third, *other]


@pytest.mark.parametrize("verb", ["claim", "claim_group"])
async def test_groups_of_nothing_but_ghosts_neither_spin_nor_hide_others(
    lanes: Lanes, redis: Redis, oracle: Oracle, verb: str
) -> None:
    lost = [job for lane in (ANA, BEN) for job in await fill(lanes, A, 5, lane=lane)]
    admitted = await fill(lanes, B, 1)
    await lose(redis, *lost)
    jobs = await (lanes.claim(9) if verb == "claim" else lanes.claim_group(9))
    assert [job.id for job in jobs] == admitted
    state = await oracle.look()
    assert (state.ring, state.inner, state.waiting, state.gdepth) == ([], {}, {}, {})


async def test_more_ghosts_than_one_claim_may_skip_are_gone_after_a_few(lanes: Lanes, redis: Redis) -> None:
    lost = await fill(lanes, A, 2500)
    admitted = await fill(lanes, A, 1)
    await lose(redis, *lost)
    for _ in range(5):
        if served := await claimed_ids(lanes, 1):
            assert served == admitted
            return
        await lanes.wait(5_000)  # at once: the ring has a group
    pytest.fail("the ghosts were not passed")


async def test_a_scheduled_job_without_a_record_is_passed_over_when_due(
    lanes: Lanes, redis: Redis, oracle: Oracle
) -> None:
    lost = new_job()
    await lanes.enqueue(A, lost, b"", delay_ms=1)
    await lose(redis, lost)
    await past(redis, await server_ms(redis) + 1)
    assert await lanes.promote(10) == 1
    assert (await oracle.look()).groups == set()
    assert await lanes.depth(A) == 0


async def test_an_id_used_again_is_untouched_by_its_ghost(lanes: Lanes, redis: Redis, oracle: Oracle) -> None:
    """The record was lost while leased; the same id comes in again, then the old lease is reaped."""
    (job_id,) = await fill(lanes, A, 1, lane=ANA)
    old = await lanes.claim(lease_ms=1)
    await lose(redis, job_id)
    assert await lanes.enqueue(B, job_id, b"again", lane=BEN) is Admission.enqueued
    await lapse(redis, old)
    assert await lanes.reap(10) == 1
    assert (await oracle.look()).gactive == {}
    (again,) = await lanes.claim(9)
    assert (again.group, again.payload, again.attempts) == (B, b"again", 1)
    assert await lanes.complete(old) == [Verdict.stale]
    assert await lanes.complete([again]) == [Verdict.ok]


async def test_a_settlement_of_the_lost_admission_never_touches_the_newer_one(lanes: Lanes, redis: Redis) -> None:
    (job_id,) = await fill(lanes, A, 1)
    (old,) = await lanes.claim()
    await lose(redis, job_id)
    await lanes.enqueue(A, job_id, b"again")
    assert await lanes.retry(old, "broken", delay_ms=0) is Verdict.gone
    (again,) = await lanes.claim(9)
    assert (again.payload, again.attempts) == (b"again", 1)
    assert await lanes.complete([replace(again, token=old.token)]) == [Verdict.stale]
    assert await lanes.complete([again]) == [Verdict.ok]


async def test_an_id_used_again_beside_its_own_ghost_in_the_same_lane_counts_once(lanes: Lanes, redis: Redis) -> None:
    lost, other = await fill(lanes, A, 2)
    await lose(redis, lost)
    assert await lanes.enqueue(A, lost, b"again") is Admission.enqueued
    assert await lanes.depth(A) == 2
    assert await claimed_ids(lanes, 9) == [other, lost]
    assert await lanes.depth(A) == 0


async def test_oldest_does_not_count_ghosts_in_lanes(lanes: Lanes, redis: Redis) -> None:
    lost, kept = await fill(lanes, A, 2)
    await lose(redis, lost)
    oldest = await lanes.oldest(A)
    (job,) = await lanes.claim(9)
    assert (job.id, job.seq) == (kept, oldest)


@pytest.mark.parametrize(("group", "lane"), [(A, BEN), (B, ANA), (B, None)])
async def test_an_id_used_again_elsewhere_is_served_once_and_from_there(
    lanes: Lanes, redis: Redis, group: str, lane: str | None
) -> None:
    """The record was lost while waiting, so the old lane still names the id."""
    (job_id,) = await fill(lanes, A, 1, lane=ANA)
    await lose(redis, job_id)
    await lanes.enqueue(group, job_id, b"again", lane=lane)
    served = await lanes.claim(9)
    assert [(job.id, job.group, job.lane, job.payload) for job in served] == [(job_id, group, lane or group, b"again")]
    assert (await lanes.depth(A), await lanes.depth(B)) == (0, 0)
    assert await lanes.complete(served) == [Verdict.ok]


async def test_an_id_used_again_in_the_same_lane_but_later_is_not_served_early(lanes: Lanes, redis: Redis) -> None:
    (job_id,) = await fill(lanes, A, 1, lane=ANA)
    await lose(redis, job_id)
    await lanes.enqueue(A, job_id, b"again", lane=ANA, delay_ms=3_600_000)
    assert await lanes.claim(9) == []
    assert await lanes.depth(A) == 1


async def test_a_full_group_that_drift_left_on_the_ring_leaves_it_as_it_is_met(
    lanes: Lanes, redis: WatchedRedis, oracle: Oracle
) -> None:
    await fill(lanes, A, 3)
    other = await fill(lanes, B, 1)
    await lanes.claim(1)
    await redis.hset("emq:{cm}:glimit", A, "1")  # behind everybody's back
    assert await claimed_ids(lanes, 9) == other
    assert (await oracle.look()).gactive[A] == 1
