"""stats: totals, the deepest groups, the rest, and how long the group that waits longest has waited."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from engine.lanes import BadArgument, Lanes, OtherStats
from tests.lanes.naming import ANA, A, B, C, D, new_job, room
from tests.lanes.oracle import Oracle
from tests.lanes.steps import fill, lapse, past, server_ms
from tests.lanes.watching import WatchedRedis


async def test_an_idle_queue_has_nothing_to_tell(lanes: Lanes) -> None:
    stats = await lanes.stats()
    assert (stats.waiting, stats.scheduled, stats.leased, stats.dead, stats.groups, stats.servable) == (0,) * 6
    assert (stats.starvation_ms, stats.top, stats.other) == (0, (), OtherStats(0, 0))


async def test_totals_count_every_state(redis: WatchedRedis) -> None:
    lanes = Lanes(redis, "cm", max_attempts=1)
    await fill(lanes, A, 3)
    await fill(lanes, B, 2)
    await lanes.enqueue(C, new_job(), b"", delay_ms=3_600_000)
    await lanes.pause(D)
    await lanes.hold(B, 3_600_000)
    dead, _ = await lanes.claim(2)
    await lanes.retry(dead, "broken")
    stats = await lanes.stats()
    assert (stats.waiting, stats.scheduled, stats.leased, stats.dead) == (3, 1, 1, 1)
    assert (stats.groups, stats.servable, stats.paused, stats.held, stats.granted) == (3, 1, 1, 1, 2)
    assert not stats.all_paused


async def test_leases_that_lapsed_are_counted_whoever_reaps_them(redis: WatchedRedis) -> None:
    lanes = Lanes(redis, "cm", max_attempts=2)
    await fill(lanes, A, 3)
    await lapse(redis, await lanes.claim(3, lease_ms=1))
    assert (await lanes.stats()).lapsed == 0, "nobody has looked yet"
    assert await lanes.reap(1) == await lanes.reap_group(A, 1) == 1
    assert len(await lanes.claim(3)) == 3, "a claim reaps, too"
    assert (await lanes.stats()).lapsed == 3


async def test_the_deepest_groups_have_rows_and_the_rest_one_together(lanes: Lanes) -> None:
    for number, group in enumerate((C, A, D, B), 1):
        await fill(lanes, group, number)
    stats = await lanes.stats(2)
    assert [(row.group, row.depth) for row in stats.top] == [(B, 4), (D, 3)]
    assert stats.other == OtherStats(groups=2, depth=3)
    everything = await lanes.stats(0)
    assert (everything.top, everything.other, everything.groups) == ((), OtherStats(4, 10), 4)


async def test_a_row_tells_all_of_a_group(lanes: Lanes, redis: Redis) -> None:
    await lanes.limit(A, 2)
    await lanes.cap(A, depth=9, lane_depth=8)
    for lane in (None, ANA):
        await fill(lanes, A, 2, lane=lane)
    await lanes.enqueue(A, new_job(), b"", weight=3)
    await lanes.claim(1)
    await past(redis, await server_ms(redis) + 2)
    (row,) = (await lanes.stats()).top
    assert (row.group, row.depth, row.in_flight, row.ceiling, row.weight) == (A, 4, 1, 2, 3)
    assert (row.cap, row.lane_cap, row.paused, row.held_ms, row.taken, row.servable) == (9, 8, False, 0, False, True)
    assert row.oldest_ms is not None
    assert 2 <= row.oldest_ms < 60_000
    await lanes.weight(A, 5)
    await lanes.pause(A)
    await lanes.hold(A, 3_600_000)
    (row,) = (await lanes.stats()).top
    assert (row.weight, row.paused, row.unserved_ms) == (5, True, None)
    assert 3_500_000 < row.held_ms <= 3_600_000


async def test_starvation_is_exact_whatever_the_top_shows(lanes: Lanes, redis: Redis, oracle: Oracle) -> None:
    """The shallowest group waits longest: the deep ones were served since."""
    await fill(lanes, B, 5)
    await fill(lanes, A, 1)
    await lanes.claim(1)
    await fill(lanes, C, 9)
    await past(redis, await server_ms(redis) + 5)
    state = await oracle.look()
    assert state.ring[0] == A
    waited_ms = (await server_ms(redis)) - state.served[A]
    stats = await lanes.stats(1)
    assert [row.group for row in stats.top] == [C]
    assert waited_ms <= stats.starvation_ms <= waited_ms + 1_000
    await lanes.pause(A)
    assert (await lanes.stats(1)).starvation_ms <= stats.starvation_ms + 1_000


async def test_many_groups_are_counted_in_passes(lanes: Lanes, redis: WatchedRedis) -> None:
    with redis.unwatched():
        for number in range(2_500):
            await fill(lanes, room(number), 2 if number % 100 == 7 else 1)
    stats = await lanes.stats(30)
    assert (stats.groups, stats.waiting) == (2_500, 2_525)
    assert [row.depth for row in stats.top] == [2] * 25 + [1] * 5
    assert stats.other == OtherStats(2_470, 2_470)


@pytest.mark.parametrize("bad", [-1, 1_001, True, "1"])
async def test_an_absurd_top_is_refused(lanes: Lanes, bad: object) -> None:
    with pytest.raises(BadArgument, match="top"):
        await lanes.stats(bad)  # type: ignore[arg-type]  # what is under test
