"""limit: the ceiling of what a group may have in flight at once."""

from __future__ import annotations

import pytest

from engine.lanes import Lanes
from tests.lanes.naming import A, B, new_job
from tests.lanes.oracle import Oracle
from tests.lanes.steps import claimed_ids, fill, settle_all


async def test_a_group_never_has_more_in_flight_than_its_ceiling(lanes: Lanes) -> None:
    await lanes.limit(A, 2)
    await fill(lanes, A, 5)
    await fill(lanes, B, 5)
    assert [job.group for job in await lanes.claim(9)] == [A, B, A, B, B, B, B]
    assert await lanes.claim(9) == []


async def test_a_ceiling_set_before_the_first_job_holds_and_leaves_no_other_trace(lanes: Lanes, oracle: Oracle) -> None:
    await lanes.limit(A, 1)
    assert (await oracle.look()).glimit == {A: 1}
    await fill(lanes, A, 2)
    await settle_all(lanes)
    assert (await oracle.look()).glimit == {A: 1}
    await fill(lanes, A, 2)
    assert len(await lanes.claim(9)) == 1


async def test_a_ceiling_taken_back_leaves_nothing(lanes: Lanes, oracle: Oracle) -> None:
    await lanes.limit(A, 1)
    await lanes.limit(A, None)
    assert (await oracle.look()).glimit == {}
    await fill(lanes, A, 3)
    assert len(await lanes.claim(9)) == 3


@pytest.mark.case("L5")
@pytest.mark.parametrize(("raised", "served"), [(2, 1), (3, 2), (None, 3)])
async def test_a_raised_ceiling_is_in_force_at_once(lanes: Lanes, raised: int | None, served: int) -> None:
    await lanes.limit(A, 1)
    await fill(lanes, A, 4)
    assert len(await lanes.claim(9)) == 1
    await lanes.limit(A, raised)
    assert len(await lanes.claim(9)) == served


async def test_a_ceiling_lowered_below_what_runs_parks_the_group_until_it_drains(lanes: Lanes, oracle: Oracle) -> None:
    admitted = await fill(lanes, A, 5)
    running = await lanes.claim(3)
    await lanes.limit(A, 1)
    assert (await oracle.look()).ring == []
    await lanes.complete(running[:2])
    assert await lanes.claim(9) == []
    await lanes.complete(running[2:])
    assert await claimed_ids(lanes, 9) == admitted[3:4]


async def test_a_ceiling_met_in_mid_visit_forfeits_the_rest_of_the_visit(lanes: Lanes) -> None:
    await lanes.enqueue(A, new_job(), b"", weight=3)
    await fill(lanes, A, 8)
    await fill(lanes, B, 4)
    running = await lanes.claim(1)
    await lanes.limit(A, 1)
    assert [job.group for job in await lanes.claim(1)] == [B]
    await lanes.complete(running)
    await lanes.limit(A, None)
    assert [job.group for job in await lanes.claim(5)] == [B, A, A, A, B]


@pytest.mark.parametrize("n", [0, -1])
async def test_a_ceiling_is_at_least_one(lanes: Lanes, oracle: Oracle, n: int) -> None:
    with pytest.raises(ValueError, match="1"):
        await lanes.limit(A, n)
    assert (await oracle.look()).glimit == {}
