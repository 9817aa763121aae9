"""extend: a lease made longer (or shorter) by whoever still holds it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from redis.asyncio import Redis

from engine.lanes import Lanes, Verdict
from tests.lanes.naming import A
from tests.lanes.steps import fill, lapse, server_ms


async def test_an_extended_lease_runs_from_now(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 1)
    jobs = await lanes.claim(lease_ms=20)
    assert await lanes.extend(jobs, 60_000) == [Verdict.ok]
    await lapse(redis, jobs)
    assert await lanes.reap(10) == 0
    assert await lanes.complete(jobs) == [Verdict.ok]


async def test_a_lease_can_be_cut_short(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 1)
    jobs = await lanes.claim()
    await lanes.extend(jobs, 1)
    await lapse(redis, [replace(jobs[0], lease_until_ms=await server_ms(redis) + 1)])
    assert await lanes.reap(10) == 1


async def test_a_lapsed_lease_nobody_reaped_may_be_extended(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 1)
    jobs = await lanes.claim(lease_ms=1)
    await lapse(redis, jobs)
    assert await lanes.extend(jobs, 60_000) == [Verdict.ok]
    assert await lanes.reap(10) == 0


async def test_a_reaped_or_settled_lease_is_stale(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 2)
    reaped = await lanes.claim(lease_ms=1)
    await lapse(redis, reaped)
    await lanes.reap(10)
    settled = await lanes.claim(1)
    await lanes.complete(settled)
    assert await lanes.extend([*reaped, *settled], 60_000) == [Verdict.stale, Verdict.stale]


async def test_verdicts_come_in_the_order_asked(lanes: Lanes) -> None:
    await fill(lanes, A, 3)
    first, second, third = await lanes.claim(3)
    await lanes.complete([second])
    assert await lanes.extend([third, second, first], 60_000) == [Verdict.ok, Verdict.stale, Verdict.ok]


async def test_nothing_to_extend_is_fine(lanes: Lanes) -> None:
    assert await lanes.extend([], 60_000) == []


@pytest.mark.parametrize("lease_ms", [0, -1, 86_400_001])
async def test_a_lease_is_between_a_millisecond_and_a_day(lanes: Lanes, lease_ms: int) -> None:
    await fill(lanes, A, 1)
    jobs = await lanes.claim()
    with pytest.raises(ValueError, match="lease"):
        await lanes.extend(jobs, lease_ms)
