"""exchange: complete and claim in one round trip, each as it would be by itself."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from engine.lanes import BadArgument, Lanes, Verdict
from tests.lanes.counting import Counted
from tests.lanes.naming import A, B, C
from tests.lanes.oracle import Oracle
from tests.lanes.steps import fill, lapse
from tests.lanes.watching import WatchedRedis


async def test_done_jobs_end_and_the_next_begin(lanes: Lanes, oracle: Oracle) -> None:
    for group in (A, B):
        await fill(lanes, group, 2)
    first = await lanes.claim(2)
    verdicts, second = await lanes.exchange(first, 2)
    assert verdicts == [Verdict.ok, Verdict.ok]
    assert [job.group for job in second] == [A, B]
    assert (second[0].attempts, second[0].token > first[1].token) == (1, True)
    assert await lanes.exchange(second) == ([Verdict.ok, Verdict.ok], [])
    assert (await oracle.look()).groups == set()


async def test_it_is_one_script(lanes: Lanes, redis: WatchedRedis) -> None:
    await fill(lanes, A, 4)
    await lanes.exchange(await lanes.claim(1))
    jobs = await lanes.claim(1)
    async with Counted(redis) as counted:
        await lanes.exchange(jobs, 1)
    assert counted.scripts == 1
    assert counted.scanning == {}


async def test_with_nothing_done_it_is_a_claim(lanes: Lanes) -> None:
    admitted = await fill(lanes, A, 2)
    verdicts, jobs = await lanes.exchange([], 9)
    assert (verdicts, [job.id for job in jobs]) == ([], admitted)


@pytest.mark.case("L5")
async def test_the_slot_it_frees_is_filled_at_once(lanes: Lanes) -> None:
    await lanes.limit(A, 1)
    await lanes.limit(B, 1)
    first, second = await fill(lanes, A, 2)
    await fill(lanes, B, 1)
    jobs = await lanes.claim(9)
    assert [job.group for job in jobs] == [A, B]
    _, (job,) = await lanes.exchange(jobs[:1], 9)
    assert (jobs[0].id, job.id) == (first, second)


async def test_a_group_it_reopens_joins_at_the_tail(lanes: Lanes) -> None:
    await lanes.limit(A, 1)
    await fill(lanes, A, 2)
    jobs = await lanes.claim(1)
    for group in (B, C):
        await fill(lanes, group, 1)
    _, more = await lanes.exchange(jobs, 9)
    assert [job.group for job in more] == [B, C, A]


async def test_a_taken_group_comes_back_with_its_last_lease(lanes: Lanes) -> None:
    await fill(lanes, A, 3)
    jobs = await lanes.claim_group(2)
    assert await lanes.exchange(jobs[:1], 9) == ([Verdict.ok], [])
    verdicts, more = await lanes.exchange(jobs[1:], 9)
    assert (verdicts, len(more)) == ([Verdict.ok], 1)


async def test_stale_and_lost_jobs_answer_as_in_complete(lanes: Lanes, redis: Redis, oracle: Oracle) -> None:
    oracle.ghosts = True
    await fill(lanes, A, 3)
    jobs = await lanes.claim(2)
    await lanes.complete(jobs[:1])
    await redis.delete(f"emq:{{cm}}:j:{jobs[1].id}")
    verdicts, more = await lanes.exchange([*jobs, jobs[1]], 9)
    assert (verdicts, len(more)) == ([Verdict.stale, Verdict.gone, Verdict.stale], 1)


@pytest.mark.case("L7")
async def test_a_lapsed_lease_may_still_be_exchanged_and_is_not_run_again(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 1)
    jobs = await lanes.claim(lease_ms=1)
    await lapse(redis, jobs)
    assert await lanes.exchange(jobs, 9) == ([Verdict.ok], [])


async def test_a_paused_queue_takes_what_is_done_and_gives_nothing(lanes: Lanes) -> None:
    await fill(lanes, A, 2)
    jobs = await lanes.claim(1)
    await lanes.pause_all()
    assert await lanes.exchange(jobs, 9) == ([Verdict.ok], [])


async def test_bad_arguments_are_refused_by_name(lanes: Lanes) -> None:
    for arguments, name in ((([], 0), "count"), (([], 1, 0), "lease_ms"), ((["x"], 1), "jobs")):
        with pytest.raises(BadArgument, match=name):
            await lanes.exchange(*arguments)
    await fill(lanes, A, 1)
    with pytest.raises(BadArgument, match="done"):
        await lanes.exchange(await lanes.claim() * 1_001)
