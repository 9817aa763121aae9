"""weight: what a visit of the rota is worth to a group, until the operator says otherwise."""

from __future__ import annotations

import pytest

from engine.lanes import Lanes
from tests.lanes.naming import A, B, new_job
from tests.lanes.oracle import Oracle
from tests.lanes.steps import fill, settle_all


async def groups(lanes: Lanes, count: int) -> list[str]:
    return [job.group for job in await lanes.claim(count)]


async def test_a_weight_is_in_force_from_the_next_visit(lanes: Lanes) -> None:
    await fill(lanes, A, 9)
    await fill(lanes, B, 9)
    await lanes.weight(A, 2)
    assert await groups(lanes, 1) == [A]  # a visit worth two has begun
    await lanes.weight(A, 3)
    assert await groups(lanes, 6) == [A, B, A, A, A, B]


async def test_the_lever_outranks_the_stamp_and_gives_way_to_it_when_taken_back(lanes: Lanes) -> None:
    await lanes.weight(A, 1)
    await lanes.enqueue(A, new_job(), b"", weight=3)
    await fill(lanes, A, 9)
    await fill(lanes, B, 9)
    assert await groups(lanes, 4) == [A, B, A, B]
    await lanes.weight(A, None)
    assert await groups(lanes, 4) == [A, A, A, B]


async def test_a_weight_is_a_lever_and_outlives_the_jobs(lanes: Lanes, oracle: Oracle) -> None:
    await lanes.weight(A, 2)
    await fill(lanes, A, 2)
    await settle_all(lanes)
    assert (await oracle.look()).gweight == {A: 2}
    await lanes.weight(A, None)
    assert (await oracle.look()).gweight == {}


@pytest.mark.parametrize("weight", [0, -1])
async def test_a_weight_is_at_least_one(lanes: Lanes, oracle: Oracle, weight: int) -> None:
    with pytest.raises(ValueError, match="1"):
        await lanes.weight(A, weight)
    assert (await oracle.look()).gweight == {}
