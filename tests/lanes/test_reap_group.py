"""reap_group: lapsed leases of one group end; others keep theirs."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from engine.lanes import BadArgument, BadId, Lanes
from tests.lanes.naming import A, B, C
from tests.lanes.oracle import Oracle
from tests.lanes.steps import fill, lapse
from tests.lanes.watching import WatchedRedis


async def test_only_the_groups_own_lapsed_leases_end(lanes: Lanes, redis: Redis, oracle: Oracle) -> None:
    mine = await fill(lanes, A, 3)
    await fill(lanes, B, 2)
    living = await lanes.claim(1)
    await lapse(redis, await lanes.claim(4, lease_ms=1))
    assert await lanes.reap_group(A) == 2
    state = await oracle.look()
    assert state.gactive == {A: 1, B: 2}
    assert [job for job, _ in state.waiting[A, A]] == mine[1:]
    assert [entry.job for entry in state.leases if entry.group == A] == [living[0].id]
    assert await lanes.reap_group(A) == 0


async def test_a_limit_bounds_it_and_each_call_gets_on(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 5)
    await lapse(redis, await lanes.claim(5, lease_ms=1))
    assert [await lanes.reap_group(A, 2) for _ in range(4)] == [2, 2, 1, 0]


async def test_a_lapsed_job_without_attempts_left_is_buried(redis: WatchedRedis, oracle: Oracle) -> None:
    lanes = Lanes(redis, "cm", max_attempts=1)
    await fill(lanes, A, 1)
    await lapse(redis, await lanes.claim(lease_ms=1))
    assert await lanes.reap_group(A) == 1
    assert [entry.group for entry in (await oracle.look()).dead] == [A]


async def test_lapsed_leases_behind_a_thousand_dead_jobs_are_found(redis: WatchedRedis) -> None:
    lanes = Lanes(redis, "cm", max_attempts=1)
    with redis.unwatched():
        await fill(lanes, A, 1_200)
        dead = await lanes.claim(1_200, lease_ms=1)
        await lapse(redis, dead)
        assert await lanes.reap(2_000) == 1_200
        await fill(lanes, A, 2)
        await lapse(redis, await lanes.claim(2, lease_ms=1))
    assert await lanes.reap_group(A) == 2


async def test_an_unknown_group_has_nothing_to_reap(lanes: Lanes) -> None:
    assert await lanes.reap_group(C) == 0


async def test_bad_arguments_are_refused_by_name(lanes: Lanes) -> None:
    with pytest.raises(BadId, match="group"):
        await lanes.reap_group("*")
    with pytest.raises(BadArgument, match="limit"):
        await lanes.reap_group(A, 0)
