"""reassign: one waiting job moves to another group or lane, and stands there where its seq puts it."""

from __future__ import annotations

import pytest

from engine.lanes import BadId, Lanes, Reassignment, Verdict
from tests.lanes.naming import ANA, BEN, A, B, new_job
from tests.lanes.oracle import Oracle
from tests.lanes.steps import claimed_ids, fill
from tests.lanes.watching import WatchedRedis


async def test_a_moved_job_keeps_its_seq_and_stands_by_its_age(lanes: Lanes, oracle: Oracle) -> None:
    early = await fill(lanes, A, 1)
    mine = await fill(lanes, B, 1)
    late = await fill(lanes, A, 1)
    seq = (await lanes.browse(B))[0].seq
    assert await lanes.reassign(mine[0], A) is Reassignment.reassigned
    jobs = await lanes.claim(9)
    assert [job.id for job in jobs] == [*early, *mine, *late]
    assert (jobs[1].group, jobs[1].lane, jobs[1].seq) == (A, A, seq)
    assert await lanes.complete(jobs) == [Verdict.ok] * 3
    assert (await oracle.look()).groups == set()


async def test_a_job_may_change_its_lane_within_its_group(lanes: Lanes) -> None:
    first, second, third = await fill(lanes, A, 3, lane=ANA)
    assert await lanes.reassign(second, A, BEN) is Reassignment.reassigned
    assert await lanes.depth(A) == 3
    assert await claimed_ids(lanes, 9) == [first, second, third]
    record = await lanes.job(second)
    assert record is not None
    assert (record.group, record.lane) == (A, BEN)


@pytest.mark.case("L16")
@pytest.mark.parametrize("which", [0, 1, 2])
async def test_taking_a_job_out_of_its_lane_leaves_no_hole(lanes: Lanes, which: int) -> None:
    jobs = await fill(lanes, A, 3)
    moved = jobs.pop(which)
    assert await lanes.reassign(moved, B) is Reassignment.reassigned
    assert [job.id for job in await lanes.claim(9) if job.group == A] == jobs


@pytest.mark.case("L16")
async def test_a_group_that_loses_its_last_job_leaves_the_ring(lanes: Lanes, oracle: Oracle) -> None:
    (only,) = await fill(lanes, A, 1, lane=ANA)
    assert await lanes.reassign(only, B, BEN) is Reassignment.reassigned
    state = await oracle.look()
    assert (state.ring, state.inner) == ([B], {B: [BEN]})


async def test_a_group_that_is_being_visited_may_lose_its_last_job(lanes: Lanes) -> None:
    await lanes.weight(A, 3)
    _, second = await fill(lanes, A, 2)
    await fill(lanes, B, 1)
    await lanes.claim(1)
    await lanes.reassign(second, B)
    assert [job.group for job in await lanes.claim(9)] == [B, B]


@pytest.mark.case("L5")
async def test_a_job_moved_to_a_full_group_waits_there(lanes: Lanes) -> None:
    await lanes.limit(A, 1)
    await fill(lanes, A, 1)
    jobs = await lanes.claim()
    (moved,) = await fill(lanes, B, 1)
    await lanes.reassign(moved, A)
    assert await lanes.claim() == []
    await lanes.complete(jobs)
    assert await claimed_ids(lanes, 9) == [moved]


async def test_a_job_that_is_there_already_is_no_move(lanes: Lanes, oracle: Oracle) -> None:
    (job_id,) = await fill(lanes, A, 1, lane=ANA)
    before = await oracle.raw()
    assert await lanes.reassign(job_id, A, ANA) is Reassignment.noop
    assert await oracle.raw() == before


async def test_an_unknown_job_is_not_found(lanes: Lanes) -> None:
    assert await lanes.reassign(new_job(), A) is Reassignment.not_found


@pytest.mark.parametrize("where", ["scheduled", "leased", "dead"])
async def test_a_job_that_does_not_wait_is_not_pending(redis: WatchedRedis, oracle: Oracle, where: str) -> None:
    lanes = Lanes(redis, "cm", max_attempts=1)
    job_id = new_job()
    await lanes.enqueue(A, job_id, b"", delay_ms=3_600_000 if where == "scheduled" else 0)
    jobs = await lanes.claim()
    if where == "dead":
        await lanes.retry(jobs[0], "broken")
    before = await oracle.raw()
    assert await lanes.reassign(job_id, B) is Reassignment.not_pending
    assert await oracle.raw() == before


async def test_an_ill_formed_id_is_refused_by_name(lanes: Lanes, oracle: Oracle) -> None:
    good = new_job()
    for arguments, name in ((("x", A, None), "job_id"), ((good, "x", None), "group"), ((good, A, "x"), "lane")):
        with pytest.raises(BadId, match=name):
            await lanes.reassign(*arguments)
    assert await oracle.raw() == []
