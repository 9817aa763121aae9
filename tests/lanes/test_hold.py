"""hold: a group is kept off the ring until a time of the server."""

from __future__ import annotations

from redis.asyncio import Redis

from engine.lanes import Lanes
from tests.lanes.naming import A, B
from tests.lanes.oracle import Oracle
from tests.lanes.steps import fill, past, server_ms


async def test_a_held_group_is_not_served_until_its_time(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 1)
    await fill(lanes, B, 1)
    await lanes.hold(A, 40)
    until_ms = await server_ms(redis) + 40
    assert [job.group for job in await lanes.claim(9)] == [B]
    await past(redis, until_ms)
    assert [job.group for job in await lanes.claim(9)] == [A]


async def test_a_hold_of_an_unknown_group_sticks(lanes: Lanes) -> None:
    await lanes.hold(A, 3_600_000)
    await fill(lanes, A, 1)
    assert await lanes.claim() == []


async def test_a_hold_replaces_the_one_before_also_by_a_shorter_one(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 1)
    await lanes.hold(A, 3_600_000)
    await lanes.hold(A, 1)
    await past(redis, await server_ms(redis) + 1)
    assert len(await lanes.claim()) == 1


async def test_a_hold_taken_back_ends_at_once(lanes: Lanes) -> None:
    await fill(lanes, A, 1)
    await lanes.hold(A, 3_600_000)
    await lanes.hold(A, None)
    assert len(await lanes.claim()) == 1


async def test_a_hold_that_is_over_leaves_nothing(lanes: Lanes, redis: Redis, oracle: Oracle) -> None:
    await lanes.hold(A, 1)
    await past(redis, await server_ms(redis) + 1)
    await lanes.claim()
    assert (await oracle.look()).held == {}


async def test_a_hold_that_ends_does_not_lift_a_pause_or_a_ceiling(lanes: Lanes, redis: Redis) -> None:
    await lanes.limit(B, 1)
    await fill(lanes, B, 2)
    await lanes.claim()
    await fill(lanes, A, 1)
    await lanes.pause(A)
    for group in (A, B):
        await lanes.hold(group, 1)
    await past(redis, await server_ms(redis) + 1)
    assert await lanes.claim(9) == []
