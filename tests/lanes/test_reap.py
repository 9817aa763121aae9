"""reap: lapsed leases' jobs go back to their own lanes."""

from __future__ import annotations

import asyncio
import time

import pytest
from redis.asyncio import Redis

from engine.lanes import Lanes
from tests.lanes.naming import ANA, BEN, A, B, room
from tests.lanes.oracle import Oracle
from tests.lanes.sizes import scaled
from tests.lanes.steps import claimed_ids, fill, lapse


async def test_a_live_lease_is_left_alone(lanes: Lanes) -> None:
    await fill(lanes, A, 1)
    await lanes.claim()
    assert await lanes.reap(10) == 0
    assert await lanes.claim() == []


async def test_nothing_to_reap_is_fine(lanes: Lanes) -> None:
    assert await lanes.reap(10) == 0


async def test_a_reaped_job_is_back_in_its_own_lane_at_its_place_with_the_attempt_burnt(
    lanes: Lanes, redis: Redis
) -> None:
    ana, ben = await fill(lanes, A, 3, lane=ANA), await fill(lanes, A, 2, lane=BEN)
    await lapse(redis, await lanes.claim(4, lease_ms=1))
    assert await lanes.reap(10) == 4
    served = await lanes.claim(9)
    assert [job.id for job in served if job.lane == ANA] == ana
    assert [job.id for job in served if job.lane == BEN] == ben
    assert sorted(job.attempts for job in served) == [1, 2, 2, 2, 2]


async def test_reaping_is_bounded_and_progresses_every_call(lanes: Lanes, redis: Redis) -> None:
    for number in range(1, 8):
        await fill(lanes, room(number), 1)
    await lapse(redis, await lanes.claim(7, lease_ms=1))
    assert [await lanes.reap(3) for _ in range(4)] == [3, 3, 1, 0]


async def test_the_oldest_lapse_is_reaped_first(lanes: Lanes, redis: Redis, oracle: Oracle) -> None:
    for group in (A, B):
        await fill(lanes, group, 1)
    (late,) = await lanes.claim(lease_ms=20)
    (early,) = await lanes.claim(lease_ms=1)
    await lapse(redis, [late])
    assert await lanes.reap(1) == 1
    assert list((await oracle.look()).waiting) == [(early.group, early.group)]


async def test_a_job_whose_last_attempt_lapsed_is_buried(redis: Redis, oracle: Oracle) -> None:
    lanes = Lanes(redis, "cm", max_attempts=2)
    (job_id,) = await fill(lanes, A, 1)
    for _ in range(2):
        await lapse(redis, await lanes.claim(lease_ms=1))
        assert await lanes.reap(10) == 1
    assert [entry.job for entry in (await oracle.look()).dead] == [job_id]
    assert await lanes.claim() == []


@pytest.mark.case("L1")
@pytest.mark.parametrize(
    "recovery", ["reap", "reap_group", "claim", "claim_group", "late complete", "late release", "late retry"]
)
async def test_each_way_to_recover_frees_the_slot_and_leaves_nothing_to_the_next(
    lanes: Lanes, redis: Redis, oracle: Oracle, recovery: str
) -> None:
    await lanes.limit(A, 1)
    first, second = await fill(lanes, A, 2)
    lapsed = await lanes.claim(9, lease_ms=1)
    await lapse(redis, lapsed)
    expected = first
    if recovery == "reap":
        assert await lanes.reap(10) == 1
    elif recovery == "reap_group":
        assert await lanes.reap_group(A, 10) == 1
    elif recovery == "late complete":
        await lanes.complete(lapsed)
        expected = second
    elif recovery == "late release":
        await lanes.release(lapsed)
    elif recovery == "late retry":
        await lanes.retry(lapsed[0], "late", delay_ms=0)
    if recovery not in ("claim", "claim_group"):
        state = await oracle.look()
        assert (state.gactive, state.leases, state.ring) == ({}, [], [A])
    claimed = await (lanes.claim_group(9) if recovery == "claim_group" else lanes.claim(9))
    assert [job.id for job in claimed] == [expected]
    assert await lanes.reap(10) == 0
    assert (await oracle.look()).gactive == {A: 1}


@pytest.mark.case("L1")
async def test_two_recoveries_at_once_recover_once(lanes: Lanes, redis: Redis, oracle: Oracle) -> None:
    await lanes.limit(A, 1)
    (job_id,) = await fill(lanes, A, 1)
    endless = Lanes(redis, "cm", max_attempts=None)
    for _ in range(50):
        await lapse(redis, await endless.claim(9, lease_ms=1))
        recovered = await asyncio.gather(endless.reap(10), endless.reap(10))
        assert sorted(recovered) == [0, 1]
        state = await oracle.look()
        assert (state.gactive, state.leases, state.ring) == ({}, [], [A])
    assert await claimed_ids(lanes, 9) == [job_id]


@pytest.mark.case("L1")
async def test_a_reap_and_two_claims_at_once_recover_once(redis: Redis) -> None:
    lanes = Lanes(redis, "cm", max_attempts=None)
    await lanes.limit(A, 1)
    await fill(lanes, A, 1)
    for _ in range(50):
        await lapse(redis, await lanes.claim(9, lease_ms=1))
        _, one, other = await asyncio.gather(lanes.reap(10), lanes.claim(9), lanes.claim(9))
        assert len(one + other) == 1
        await lanes.release(one + other)


@pytest.mark.case("L3")
async def test_round_after_round_of_lapses_keeps_every_slot(redis: Redis, oracle: Oracle) -> None:
    lanes = Lanes(redis, "cm", max_attempts=None)
    await lanes.limit(A, 3)
    await fill(lanes, A, 5)
    for _ in range(scaled(250, 1_000)):
        jobs = await lanes.claim(9, lease_ms=1)
        assert len(jobs) == 3
        await lapse(redis, jobs)
        assert await lanes.reap(9) == 3
    state = await oracle.look()
    assert (state.gactive, state.depth(A)) == ({}, 5)


@pytest.mark.case("L5")
@pytest.mark.parametrize("how", ["put back", "buried"])
async def test_reaping_frees_the_slot_at_once(redis: Redis, how: str) -> None:
    lanes = Lanes(redis, "cm", max_attempts=1 if how == "buried" else 5)
    await lanes.limit(A, 1)
    first, second = await fill(lanes, A, 2)
    await lapse(redis, await lanes.claim(9, lease_ms=1))
    await lanes.reap(10)
    assert await claimed_ids(lanes, 9) == [second if how == "buried" else first]


@pytest.mark.case("L21")
async def test_a_reaped_job_of_a_paused_group_stays_there(lanes: Lanes, redis: Redis) -> None:
    (job_id,) = await fill(lanes, A, 1)
    await lapse(redis, await lanes.claim(lease_ms=1))
    await lanes.pause(A)
    assert await lanes.reap(10) == 1
    assert await lanes.claim() == []
    await lanes.resume(A)
    assert await claimed_ids(lanes, 9) == [job_id]


@pytest.mark.case("L21")
async def test_a_crowd_of_lapsed_leases_of_a_barred_group_delays_nobody(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 200)
    await fill(lanes, B, 1)
    (*crowd, other) = sorted(await lanes.claim(201, lease_ms=1), key=lambda job: job.group)
    await lapse(redis, [*crowd, other])
    await lanes.pause(A)
    for _ in range(10):
        if served := await claimed_ids(lanes, 9):
            assert served == [other.id]
            return
        began = time.monotonic()
        await lanes.wait(4_000)
        assert time.monotonic() - began < 1.5
    pytest.fail("the lapsed job of the other group was never served")
