"""I7: what a claim, an admission and a settlement cost depends on neither groups nor lanes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from engine.lanes import Lanes, Submission
from tests.lanes.counting import Counted
from tests.lanes.naming import ANA, A, new_job, player, room
from tests.lanes.steps import fill, server_ms
from tests.lanes.watching import WatchedRedis

FEW, MANY = 10, 300
Bar = Callable[[Lanes, str], Awaitable[object]]


async def measure(lanes: Lanes, redis: WatchedRedis) -> dict[str, tuple[int, dict[str, int]]]:
    """What each verb costs in commands, on a group of its own beside whatever else there is."""
    costs = {}

    async def step(name: str, verb: Awaitable[object]) -> object:
        await redis.delete("emq:{cm}:wake")  # how many tokens it still takes is not the verb's cost
        async with Counted(redis) as counted:
            answer = await verb
        assert counted.scanning == {}, name
        costs[name] = (counted.calls, counted.by_command)
        return answer

    mine = room(9_000)
    await step("first admission", lanes.enqueue(mine, new_job(), b"", lane=ANA))
    await step("next admission", lanes.enqueue(mine, new_job(), b"", lane=ANA))
    await step("delayed admission", lanes.enqueue(mine, new_job(), b"", lane=ANA, delay_ms=3_600_000))
    for name in ("one", "another"):
        async with Counted(redis) as counted:
            jobs = await lanes.claim(1)
        assert counted.scanning == {}
        costs[f"claim {name}"] = (counted.calls, counted.by_command)
        await step(f"extend {name}", lanes.extend(jobs, 60_000))
        await step(f"release {name}", lanes.release(jobs))
    await lanes.cap(mine, depth=1_000, lane_depth=1_000)
    await step("capped admission", lanes.enqueue(mine, new_job(), b"", lane=ANA))
    await step("exchange", lanes.exchange(await lanes.claim(1), 1))
    jobs = await lanes.claim(3)
    await step("complete", lanes.complete(jobs[:1]))
    await step("retry", lanes.retry(jobs[1], "broken", delay_ms=0))
    await step("retry later", lanes.retry(jobs[2], "broken", delay_ms=3_600_000))
    async with Counted(redis) as counted:
        spoken = await lanes.claim_group(2)
    assert counted.scanning == {}
    await step("complete with a cool-down", lanes.complete(spoken, cooldown_ms=60_000))
    await step("depth", lanes.depth(mine))
    return costs


@pytest.mark.parametrize("what", ["groups", "lanes"])
async def test_cost_does_not_grow_with_groups_or_lanes(redis: WatchedRedis, what: str) -> None:
    costs = []
    for count in (1, FEW, MANY):  # the first run loads the scripts
        await redis.flushall()
        lanes = Lanes(redis, "cm")
        with redis.unwatched():
            for number in range(count):
                group, lane = (room(100 + number), ANA) if what == "groups" else (A, player(number))
                await fill(lanes, group, 2, lane=lane)
            await fill(lanes, A, 1)
        costs.append({name: calls for name, (calls, _) in (await measure(lanes, redis)).items()})
    assert costs[1] == costs[2]


async def full(lanes: Lanes, group: str) -> None:
    await lanes.limit(group, 1)
    await fill(lanes, group, 2)
    await lanes.claim(1)


async def paused(lanes: Lanes, group: str) -> None:
    await lanes.pause(group)
    await fill(lanes, group, 1)


async def held(lanes: Lanes, group: str) -> None:
    await fill(lanes, group, 2)
    await lanes.complete(await lanes.claim(1), cooldown_ms=3_600_000)


async def spoken(lanes: Lanes, group: str) -> None:
    await fill(lanes, group, 2)
    await lanes.claim_group(1)


@pytest.mark.case("L11")
@pytest.mark.parametrize("bar", [full, paused, held, spoken])
async def test_barred_groups_cost_a_claim_nothing(redis: WatchedRedis, bar: Bar) -> None:
    costs = []
    for count in (FEW, MANY):
        await redis.flushall()
        lanes = Lanes(redis, "cm")
        with redis.unwatched():
            for number in range(count):
                await bar(lanes, room(100 + number))
            await fill(lanes, A, 3)
            await lanes.claim(1)
        async with Counted(redis) as counted:
            assert [job.group for job in await lanes.claim(9)] == [A, A]
        assert counted.scanning == {}
        costs.append(counted.by_command)
    assert costs[0] == costs[1]


async def crowd(lanes: Lanes, redis: WatchedRedis, count: int) -> None:
    """Three times ``count`` groups with a job each: paused, held, and at their ceiling."""
    paused_ones, held_ones, full_ones = (
        [room(first + 3 * number) for number in range(count)] for first in (10, 11, 12)
    )
    # What the three levers write for a group that has no job yet, less three round trips for each.
    await redis.sadd("emq:{cm}:paused", *paused_ones)
    await redis.zadd("emq:{cm}:held", dict.fromkeys(held_ones, await server_ms(redis) + 3_600_000))
    await redis.hset("emq:{cm}:glimit", mapping=dict.fromkeys(full_ones, 1))
    await lanes.enqueue_many([Submission(group, new_job(), b"") for group in full_ones])
    while await lanes.claim(10_000, lease_ms=3_600_000):
        continue
    await lanes.enqueue_many([Submission(group, new_job(), b"") for group in paused_ones + held_ones + full_ones])
    assert await lanes.claim(1) == []


@pytest.mark.case("L11")
@pytest.mark.timeout(300)
async def test_a_hundred_thousand_barred_groups_cost_a_claim_what_ten_do(redis: WatchedRedis) -> None:
    lanes = Lanes(redis, "cm")
    costs = []
    for count in (3, 33_334):
        await redis.flushall()
        with redis.unwatched():
            await crowd(lanes, redis, count)
            await fill(lanes, A, 2)
        async with Counted(redis) as counted:
            assert [job.group for job in await lanes.claim(9)] == [A, A]
        assert counted.scanning == {}
        costs.append(counted.by_command)
    await redis.flushall()  # a last look at all of it would take longer than the test
    assert costs[0] == costs[1]
