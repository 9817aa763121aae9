"""claim_group: one worker at a time speaks for a group."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from engine.lanes import Job, Lanes
from tests.lanes.naming import ANA, BEN, A, B, new_job
from tests.lanes.oracle import Oracle
from tests.lanes.steps import fill, lapse, past, server_ms


async def test_an_empty_queue_answers_an_empty_list(lanes: Lanes) -> None:
    assert await lanes.claim_group(10) == []


async def test_it_takes_jobs_of_one_group_only(lanes: Lanes) -> None:
    first = await fill(lanes, A, 3)
    second = await fill(lanes, B, 5)
    assert [job.id for job in await lanes.claim_group(10)] == first
    assert [job.id for job in await lanes.claim_group(4)] == second[:4]


async def test_it_takes_the_lanes_of_the_group_in_turn(lanes: Lanes) -> None:
    await fill(lanes, A, 3, lane=ANA)
    await fill(lanes, A, 2, lane=BEN)
    assert [job.lane for job in await lanes.claim_group(4)] == [ANA, BEN, ANA, BEN]


async def test_a_taken_group_is_nobody_elses_though_it_has_more(lanes: Lanes) -> None:
    await fill(lanes, A, 10)
    await lanes.claim_group(2)
    assert await lanes.claim_group(2) == []
    assert await lanes.claim(2) == []


async def test_admission_to_a_taken_group_does_not_bring_it_back(lanes: Lanes, oracle: Oracle) -> None:
    await fill(lanes, A, 1)
    await lanes.claim_group(10)
    await fill(lanes, A, 1)
    assert (await oracle.look()).ring == []
    assert await lanes.claim(2) == []


async def test_a_taken_group_comes_back_with_its_last_settlement_only(lanes: Lanes) -> None:
    await fill(lanes, A, 4)
    first, second = await lanes.claim_group(2)
    await lanes.complete([first])
    assert await lanes.claim(1) == []
    await lanes.complete([first])
    assert await lanes.claim(1) == []
    await lanes.complete([second])
    assert len(await lanes.claim(9)) == 2


@pytest.mark.parametrize("how", ["complete", "retry", "delayed retry", "release", "bury", "reap"])
async def test_whatever_settles_the_last_one_brings_the_group_back(redis: Redis, how: str) -> None:
    lanes = Lanes(redis, "cm", max_attempts=1 if how == "bury" else 5)
    await fill(lanes, A, 2)
    jobs: list[Job] = await lanes.claim_group(1, lease_ms=1 if how == "reap" else 30_000)
    if how == "complete":
        await lanes.complete(jobs)
    elif how in ("retry", "bury"):
        await lanes.retry(jobs[0], "broken", delay_ms=0)
    elif how == "delayed retry":
        await lanes.retry(jobs[0], "broken", delay_ms=3_600_000)
    elif how == "release":
        await lanes.release(jobs)
    else:
        await lapse(redis, jobs)
        assert await lanes.reap(10) == 1
    assert len(await lanes.claim(9)) == (1 if how in ("complete", "delayed retry", "bury") else 2)


async def test_a_taken_group_with_nothing_left_leaves_nothing_behind(lanes: Lanes, oracle: Oracle) -> None:
    await fill(lanes, A, 2)
    await lanes.complete(await lanes.claim_group(10))
    assert (await oracle.look()).groups == set()


async def test_the_ceiling_holds_here_too(lanes: Lanes) -> None:
    await lanes.limit(A, 2)
    await fill(lanes, A, 5)
    jobs = await lanes.claim_group(10)
    assert len(jobs) == 2
    await lanes.complete(jobs)
    assert len(await lanes.claim_group(10)) == 2


async def test_leases_of_a_plain_claim_count_before_the_group_comes_back(lanes: Lanes) -> None:
    await fill(lanes, A, 4)
    plain = await lanes.claim(1)
    spoken = await lanes.claim_group(1)
    await lanes.complete(spoken)
    assert await lanes.claim(1) == []
    await lanes.complete(plain)
    assert len(await lanes.claim(9)) == 2


async def test_its_weight_is_ignored(lanes: Lanes) -> None:
    await lanes.enqueue(A, new_job(), b"", weight=2)
    await fill(lanes, A, 9)
    assert len(await lanes.claim_group(7)) == 7


async def test_a_visit_in_progress_is_forfeited(lanes: Lanes) -> None:
    await lanes.enqueue(A, new_job(), b"", weight=3)
    await fill(lanes, A, 9)
    await fill(lanes, B, 9)
    assert [job.group for job in await lanes.claim(1)] == [A]  # two of the visit's three are left
    plain = await lanes.claim_group(1)
    assert [job.group for job in plain] == [A]
    assert [job.group for job in await lanes.claim(2)] == [B, B]


async def test_a_cool_down_after_a_spoken_group_holds_it(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 1)
    jobs = await lanes.claim_group(10)
    await fill(lanes, A, 1)
    await lanes.complete(jobs, cooldown_ms=300)
    assert await lanes.claim_group(10) == []
    await past(redis, await server_ms(redis) + 300)
    assert len(await lanes.claim_group(10)) == 1


async def test_pausing_and_resuming_a_taken_group_does_not_bring_it_back(lanes: Lanes) -> None:
    await fill(lanes, A, 2)
    jobs = await lanes.claim_group(1)
    await lanes.pause(A)
    await lanes.resume(A)
    await lanes.limit(A, 5)
    await lanes.limit(A, None)
    assert await lanes.claim(1) == []
    await lanes.complete(jobs)
    assert len(await lanes.claim(1)) == 1


async def test_a_taken_group_that_was_paused_meanwhile_stays_away_when_settled(lanes: Lanes) -> None:
    await fill(lanes, A, 2)
    jobs = await lanes.claim_group(1)
    await lanes.pause(A)
    await lanes.complete(jobs)
    assert await lanes.claim(1) == []
    await lanes.resume(A)
    assert len(await lanes.claim(1)) == 1


async def test_many_speakers_never_share_a_group(lanes: Lanes) -> None:
    for group in (A, B):
        await fill(lanes, group, 6)
    spoken = [await lanes.claim_group(2) for _ in range(4)]
    assert [[job.group for job in jobs] for jobs in spoken] == [[A, A], [B, B], [], []]
