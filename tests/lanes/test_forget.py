"""forget: nothing is left of a group, whatever it was doing."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from engine.lanes import BadId, Lanes, Verdict
from tests.lanes.naming import ANA, BEN, A, B, new_job, player
from tests.lanes.oracle import Oracle
from tests.lanes.steps import claimed_ids, fill
from tests.lanes.watching import WatchedRedis


async def keys_of(redis: Redis, group: str) -> list[bytes | str]:
    return list(await redis.keys(f"*{group}*"))


async def test_a_group_forgotten_in_mid_flight_leaves_nothing(redis: WatchedRedis, oracle: Oracle) -> None:
    lanes = Lanes(redis, "cm", max_attempts=1)
    await lanes.limit(A, 3)
    await lanes.weight(A, 2)
    await lanes.cap(A, depth=99, lane_depth=99)
    for lane in (ANA, BEN, None):
        await fill(lanes, A, 3, lane=lane)
    await lanes.enqueue(A, new_job(), b"", lane=ANA, delay_ms=3_600_000, weight=4)
    jobs = await lanes.claim(2)
    await lanes.retry(jobs[0], "broken")
    await lanes.hold(A, 3_600_000)
    await lanes.pause(A)
    assert await lanes.forget(A) == 10
    state = await oracle.look()
    assert state.groups == set()
    assert state.records == {}
    assert (state.glimit, state.gweight, state.gcap, state.gflow, state.paused, state.held) == (
        {},
        {},
        {},
        {},
        set(),
        {},
    )
    assert await keys_of(redis, A) == []
    assert await lanes.forget(A) == 0


async def test_live_leases_are_stale_from_then_on(lanes: Lanes, oracle: Oracle) -> None:
    await fill(lanes, A, 4)
    jobs = await lanes.claim(4)
    await lanes.forget(A)
    assert await lanes.extend(jobs[:1], 60_000) == [Verdict.stale]
    assert await lanes.complete(jobs[:1]) == [Verdict.stale]
    assert await lanes.release(jobs[1:2]) == [Verdict.stale]
    assert await lanes.retry(jobs[2], "broken", 0) is Verdict.stale
    assert (await oracle.look()).groups == set()


@pytest.mark.case("L8")
async def test_an_old_lease_cannot_touch_the_same_id_admitted_again(lanes: Lanes) -> None:
    (job_id,) = await fill(lanes, A, 1)
    old = await lanes.claim()
    await lanes.forget(A)
    await lanes.enqueue(A, job_id, b"again")
    (again,) = await lanes.claim()
    assert await lanes.complete(old) == [Verdict.stale]
    assert await lanes.complete([again]) == [Verdict.ok]


async def test_a_group_that_was_spoken_for_may_be_forgotten(lanes: Lanes) -> None:
    await fill(lanes, A, 3)
    await lanes.claim_group(1)
    assert await lanes.forget(A) == 3
    again = await fill(lanes, A, 1)
    assert await claimed_ids(lanes, 9) == again


async def test_others_are_untouched(lanes: Lanes) -> None:
    await fill(lanes, A, 3)
    other = await fill(lanes, B, 3)
    await lanes.limit(B, 2)
    await lanes.forget(A)
    assert await claimed_ids(lanes, 9) == other[:2]


async def test_a_large_group_is_forgotten_in_short_scripts(lanes: Lanes, redis: WatchedRedis, oracle: Oracle) -> None:
    with redis.unwatched():
        for number in range(20):
            await fill(lanes, A, 100, lane=player(number))
        await lanes.claim(1_200)
    assert await lanes.forget(A) == 2_000
    assert (await oracle.look()).groups == set()


async def test_an_ill_formed_group_is_refused(lanes: Lanes) -> None:
    with pytest.raises(BadId, match="group"):
        await lanes.forget("")
