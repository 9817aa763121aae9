"""Taking waiting jobs away leaves no hole: whatever they stood before is served, in its order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from redis.asyncio import Redis

from engine.lanes import Lanes, Reassignment
from tests.lanes.naming import ANA, BEN, CAT, A, B, new_job
from tests.lanes.oracle import Oracle
from tests.lanes.steps import claimed_ids, fill
from tests.lanes.travelling import travel

LANES = (ANA, BEN, CAT)
HOUR_MS = 3_600_000
Bar = Callable[[Lanes, bool], Awaitable[object]]


async def nothing(_lanes: Lanes, _on: bool) -> None:  # noqa: FBT001 - a bar is on or off
    """Not barred."""


async def pause(lanes: Lanes, on: bool) -> None:  # noqa: FBT001 - a bar is on or off
    await (lanes.pause if on else lanes.resume)(A)


async def hold(lanes: Lanes, on: bool) -> None:  # noqa: FBT001 - a bar is on or off
    await lanes.hold(A, HOUR_MS if on else None)


async def visit(lanes: Lanes, on: bool) -> None:  # noqa: FBT001 - a bar is on or off
    """The group is in the middle of its visit, with more to come."""
    if on:
        await lanes.weight(A, 5)
        await lanes.release(await lanes.claim(1))


BARS: dict[str, Bar] = {"servable": nothing, "paused": pause, "held": hold, "being visited": visit}


@pytest.mark.case("L16")
@pytest.mark.parametrize("bar", BARS)
@pytest.mark.parametrize("place", [0, 1, 2])
async def test_a_lane_drained_from_anywhere_lets_the_others_take_their_turns(
    lanes: Lanes, oracle: Oracle, bar: str, place: int
) -> None:
    jobs = {lane: await fill(lanes, A, 3, lane=lane) for lane in LANES}
    await BARS[bar](lanes, True)
    turn = (await oracle.look()).inner[A]
    assert await lanes.drain(A, turn[place]) == 3
    left = [lane for lane in turn if lane != turn[place]]
    await BARS[bar](lanes, False)
    assert await claimed_ids(lanes, 99) == [jobs[lane][row] for row in range(3) for lane in left]
    assert await lanes.depth(A) == 0


@pytest.mark.case("L16")
@pytest.mark.parametrize("bar", BARS)
@pytest.mark.parametrize("place", [0, 1, 2])
async def test_a_job_moved_from_anywhere_in_its_lane_lets_the_others_follow(lanes: Lanes, bar: str, place: int) -> None:
    jobs = await fill(lanes, A, 3, lane=ANA)
    await BARS[bar](lanes, True)
    moved = jobs.pop(place)
    assert await lanes.reassign(moved, B, BEN) is Reassignment.reassigned
    await BARS[bar](lanes, False)
    served = await lanes.claim(99)
    assert [job.id for job in served if job.group == A] == jobs
    assert [job.id for job in served if job.group == B] == [moved]


@pytest.mark.case("L16")
async def test_what_was_drained_while_scheduled_never_comes_due(lanes: Lanes, redis: Redis) -> None:
    early = await fill(lanes, A, 1, lane=ANA)
    for lane in (ANA, BEN):
        await lanes.enqueue(A, new_job(), b"", lane=lane, delay_ms=HOUR_MS)
    assert await lanes.drain(A, BEN) == 1
    await travel(redis, HOUR_MS)
    assert len(await claimed_ids(lanes, 99)) == 2
    assert await lanes.depth(A) == 0
    assert early
