"""redrive: dead jobs come in afresh, to their own lanes."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from engine.lanes import BadArgument, BadId, Job, Lanes, State, Verdict
from tests.lanes.naming import ANA, BEN, A, B, C, new_job
from tests.lanes.oracle import Oracle
from tests.lanes.steps import claimed_ids, fill, lapse
from tests.lanes.watching import WatchedRedis


@pytest.fixture
def lanes(redis: WatchedRedis) -> Lanes:
    return Lanes(redis, "cm", max_attempts=1)


async def bury(lanes: Lanes, group: str, count: int = 1, lane: str | None = None) -> list[Job]:
    await fill(lanes, group, count, lane=lane)
    jobs = await lanes.claim(count)
    assert [await lanes.retry(job, "broken") for job in jobs] == [Verdict.dead] * count
    return jobs


async def test_a_redriven_job_is_a_fresh_admission(lanes: Lanes) -> None:
    (dead,) = await bury(lanes, A, lane=ANA)
    younger = await fill(lanes, A, 1, lane=ANA)
    assert await lanes.redrive() == 1
    record = await lanes.job(dead.id)
    assert record is not None
    assert (record.state, record.attempts, record.error, record.lane) == (State.waiting, 0, "", ANA)
    first, again = await lanes.claim(9)
    assert [first.id] == younger
    assert (again.id, again.attempts, again.payload) == (dead.id, 1, dead.payload)
    assert again.seq > first.seq > dead.seq
    assert again.enqueued_ms >= dead.enqueued_ms


async def test_one_job_is_redriven_alone(lanes: Lanes, oracle: Oracle) -> None:
    first, second = await bury(lanes, A, 2)
    assert await lanes.redrive(job_id=second.id) == 1
    assert await lanes.redrive(job_id=second.id) == 0
    assert await lanes.redrive(B, first.id) == 0
    assert [entry.job for entry in (await oracle.look()).dead] == [first.id]
    assert await lanes.redrive(A, first.id) == 1


async def test_one_group_is_redriven_alone(lanes: Lanes, oracle: Oracle) -> None:
    await bury(lanes, A, 3)
    await bury(lanes, B, 2)
    assert await lanes.redrive(A) == 3
    assert {entry.group for entry in (await oracle.look()).dead} == {B}
    assert await lanes.redrive(C) == 0


async def test_a_limit_bounds_it_and_each_call_gets_on(lanes: Lanes) -> None:
    await bury(lanes, A, 3)
    await bury(lanes, B, 2)
    assert [await lanes.redrive(limit=2) for _ in range(4)] == [2, 2, 1, 0]


async def test_unknown_and_living_jobs_are_not_redriven(lanes: Lanes) -> None:
    (living,) = await fill(lanes, A, 1)
    assert await lanes.redrive(job_id=living) == 0
    assert await lanes.redrive(job_id=new_job()) == 0


@pytest.mark.case("L15")
async def test_more_than_a_page_of_dead_jobs_of_a_full_group_hides_nobody(lanes: Lanes, redis: WatchedRedis) -> None:
    with redis.unwatched():
        await bury(lanes, A, 1_100)
        await bury(lanes, B, 3)
        await lanes.cap(A, depth=1)
        assert await lanes.redrive(limit=4) == 4
    assert (await lanes.depth(A), await lanes.depth(B)) == (1, 3)


@pytest.mark.case("L21")
@pytest.mark.parametrize("bar", ["paused", "held", "full"])
async def test_a_redriven_job_of_a_barred_group_waits(lanes: Lanes, bar: str) -> None:
    (dead,) = await bury(lanes, A)
    if bar == "paused":
        await lanes.pause(A)
    elif bar == "held":
        await lanes.hold(A, 3_600_000)
    else:
        await lanes.limit(A, 1)
        await fill(lanes, A, 1)
        await lanes.claim()
    assert await lanes.redrive() == 1
    assert await lanes.claim() == []
    assert await lanes.depth(A) == 1
    await lanes.resume(A)
    await lanes.hold(A, None)
    await lanes.limit(A, None)
    assert await claimed_ids(lanes, 9) == [dead.id]


async def test_a_dead_job_whose_record_is_gone_is_cleared_and_not_counted(
    lanes: Lanes, redis: Redis, oracle: Oracle
) -> None:
    oracle.ghosts = True
    (lost,) = await bury(lanes, A)
    (kept,) = await bury(lanes, A, lane=BEN)
    await redis.delete(f"emq:{{cm}}:j:{lost.id}")
    assert await lanes.redrive() == 1
    assert (await oracle.look()).dead == []
    assert await claimed_ids(lanes, 9) == [kept.id]


async def test_a_job_that_killed_its_worker_can_be_redriven(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 1)
    jobs = await lanes.claim(lease_ms=1)
    await lapse(redis, jobs)
    await lanes.reap()
    assert await lanes.redrive() == 1
    assert await claimed_ids(lanes, 9) == [jobs[0].id]


async def test_bad_arguments_are_refused_by_name(lanes: Lanes) -> None:
    with pytest.raises(BadId, match="group"):
        await lanes.redrive("*")
    with pytest.raises(BadId, match="job_id"):
        await lanes.redrive(job_id="*")
    with pytest.raises(BadArgument, match="limit"):
        await lanes.redrive(limit=0)
