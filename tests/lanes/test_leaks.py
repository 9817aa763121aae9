"""I6 at size: groups that emptied leave nothing behind."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from engine.lanes import Lanes, Submission
from tests.lanes.naming import new_job, player, room
from tests.lanes.sizes import scaled
from tests.lanes.steps import settle_all
from tests.lanes.travelling import travel
from tests.lanes.watching import WatchedRedis

GROUPS = scaled(1_500, 100_000)
DAY_MS = 86_400_000


async def sizes(redis: Redis) -> dict[bytes, int]:
    """Every key, and how many fields or members it has."""
    counts = {b"hash": redis.hlen, b"list": redis.llen, b"set": redis.scard, b"zset": redis.zcard}
    found = {}
    async for key in redis.scan_iter(count=10_000):
        kind = await redis.type(key)
        found[key] = await counts[kind](key) if kind in counts else 1
    return found


@pytest.mark.case("L18")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("end", ["served", "drained", "forgotten", "buried"])
async def test_emptied_groups_leave_no_key_and_no_field(redis: WatchedRedis, end: str) -> None:
    lanes = Lanes(redis, "cm", max_attempts=1)
    groups = [room(10 + number) for number in range(GROUPS)]
    with redis.unwatched():
        await used(lanes, redis)
        before = await sizes(redis)
        jobs = [
            Submission(
                group,
                new_job(),
                b"",
                lane=player(number) if number % 2 else None,
                delay_ms=DAY_MS if number % 3 == 0 else 0,
                dedup=f"message {number}" if number % 5 == 0 else None,
                dedup_ms=DAY_MS,
                weight=number % 4 or None,
            )
            for number, group in enumerate(groups)
        ]
        await lanes.enqueue_many(jobs)
        await travel(redis, DAY_MS)
        match end:
            case "served":
                assert len(await settle_all(lanes, 1_000)) + await rest(lanes) == GROUPS
            case "buried":
                while await lanes.claim(1_000, lease_ms=DAY_MS) or await lanes.promote(1_000):
                    continue
                await travel(redis, DAY_MS)
                assert await lanes.reap(GROUPS) == GROUPS
                assert await lanes.redrive(limit=GROUPS) == GROUPS
                assert len(await settle_all(lanes, 1_000)) == GROUPS
            case "drained":
                assert sum([await lanes.drain(group) for group in groups]) == GROUPS
            case _:
                assert sum([await lanes.forget(group) for group in groups]) == GROUPS
        await lanes.wait(1)  # takes the tokens that are left
        assert await sizes(redis) == before


async def used(lanes: Lanes, redis: Redis) -> None:
    """Have the queue's own counters there: of leases given, and of those that lapsed."""
    await lanes.enqueue(room(1), new_job(), b"")
    await lanes.claim(lease_ms=DAY_MS)
    await travel(redis, DAY_MS)
    assert await lanes.reap(1) == await lanes.redrive() == 1
    await settle_all(lanes)
    await lanes.wait(1)


async def rest(lanes: Lanes) -> int:
    """Serve what becomes due only now; a claim's housekeeping is bounded."""
    served = 0
    while await lanes.promote(1_000):
        served += len(await settle_all(lanes, 1_000))
    return served
