"""complete: the end of a job, by whoever holds its newest lease."""

from __future__ import annotations

from dataclasses import replace

import pytest
from redis.asyncio import Redis

from engine.lanes import Lanes, Verdict
from tests.lanes.naming import ANA, A, B, C
from tests.lanes.oracle import Oracle
from tests.lanes.steps import fill, lapse, past, server_ms


async def test_a_completed_job_is_gone(lanes: Lanes, oracle: Oracle) -> None:
    (job_id,) = await fill(lanes, A, 1, lane=ANA)
    jobs = await lanes.claim()
    assert await lanes.complete(jobs) == [Verdict.ok]
    assert await lanes.job(job_id) is None
    assert (await oracle.look()).groups == set()


async def test_nothing_to_complete_is_fine(lanes: Lanes) -> None:
    assert await lanes.complete([]) == []
    assert await lanes.complete([], cooldown_ms=5) == []


async def test_a_second_completion_is_stale_and_changes_nothing(lanes: Lanes) -> None:
    await lanes.limit(A, 2)
    await fill(lanes, A, 3)
    jobs = await lanes.claim(2)
    assert await lanes.complete(jobs[:1]) == [Verdict.ok]
    assert await lanes.complete(jobs[:1]) == [Verdict.stale]
    assert len(await lanes.claim(9)) == 1  # one slot, not two


async def test_the_same_job_twice_in_one_list_is_settled_once(lanes: Lanes) -> None:
    await fill(lanes, A, 1)
    (job,) = await lanes.claim()
    assert await lanes.complete([job, job]) == [Verdict.ok, Verdict.stale]


async def test_verdicts_come_in_the_order_asked(lanes: Lanes) -> None:
    for group in (A, B, C):
        await fill(lanes, group, 1)
    first, second, third = await lanes.claim(3)
    await lanes.release([second])
    assert await lanes.complete([third, second, first]) == [Verdict.ok, Verdict.stale, Verdict.ok]


async def test_a_token_that_was_never_given_is_stale(lanes: Lanes) -> None:
    await fill(lanes, A, 1)
    (job,) = await lanes.claim()
    forged = [replace(job, token=job.token + change) for change in (-1, 1)]
    assert await lanes.complete(forged) == [Verdict.stale, Verdict.stale]
    assert await lanes.complete([job]) == [Verdict.ok]


async def test_a_lapsed_lease_nobody_took_back_may_still_be_completed(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 1)
    jobs = await lanes.claim(lease_ms=1)
    await lapse(redis, jobs)
    assert await lanes.complete(jobs) == [Verdict.ok]
    assert await lanes.reap(10) == 0


@pytest.mark.case("L5")
async def test_completing_frees_the_slot_at_once(lanes: Lanes) -> None:
    await lanes.limit(A, 1)
    first, second = await fill(lanes, A, 2)
    jobs = await lanes.claim(2)
    assert [job.id for job in jobs] == [first]
    await lanes.complete(jobs)
    assert [job.id for job in await lanes.claim(2)] == [second]


async def test_a_cool_down_holds_the_group_for_its_time(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 2)
    await fill(lanes, B, 1)
    (job,) = await lanes.claim()
    assert await lanes.complete([job], cooldown_ms=300) == [Verdict.ok]
    assert [job.group for job in await lanes.claim(9)] == [B]
    await past(redis, await server_ms(redis) + 300)
    assert {job.group for job in await lanes.claim(1)} == {A}


async def test_a_cool_down_holds_a_group_that_has_nothing_waiting(lanes: Lanes) -> None:
    await fill(lanes, A, 1)
    await lanes.complete(await lanes.claim(), cooldown_ms=3_600_000)
    await fill(lanes, A, 1)
    assert await lanes.claim() == []
    assert await lanes.depth(A) == 1


async def test_a_cool_down_never_shortens_a_hold(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 3)
    first, second = await lanes.claim(2)
    await lanes.complete([first], cooldown_ms=3_600_000)
    await lanes.complete([second], cooldown_ms=1)
    await past(redis, await server_ms(redis) + 5)
    assert await lanes.claim() == []


async def test_a_completion_without_cool_down_leaves_a_hold_alone(lanes: Lanes) -> None:
    await fill(lanes, A, 3)
    first, second = await lanes.claim(2)
    await lanes.complete([first], cooldown_ms=3_600_000)
    await lanes.complete([second])
    assert await lanes.claim() == []


async def test_a_stale_completion_cools_nothing_down(lanes: Lanes) -> None:
    await fill(lanes, A, 2)
    jobs = await lanes.claim(1)
    await lanes.release(jobs)
    assert await lanes.complete(jobs, cooldown_ms=3_600_000) == [Verdict.stale]
    assert len(await lanes.claim(9)) == 2


async def test_a_cool_down_holds_every_group_of_the_list(lanes: Lanes) -> None:
    for group in (A, B):
        await fill(lanes, group, 2)
    await fill(lanes, C, 2)
    jobs = await lanes.claim(2)
    await lanes.complete(jobs, cooldown_ms=3_600_000)
    assert [job.group for job in await lanes.claim(9)] == [C, C]


@pytest.mark.case("L7")
async def test_a_late_completion_changes_nothing_of_the_newer_lease(lanes: Lanes, redis: Redis, oracle: Oracle) -> None:
    await lanes.limit(A, 1)
    await fill(lanes, A, 2)
    endless = Lanes(redis, "cm", max_attempts=None)
    for _ in range(50):
        stalled = await endless.claim(lease_ms=1)
        await lapse(redis, stalled)
        assert await endless.reap(10) == 1
        second = await endless.claim()
        assert [job.id for job in second] == [job.id for job in stalled]
        assert await endless.complete(stalled) == [Verdict.stale]
        assert (await oracle.look()).gactive == {A: 1}
        assert await endless.claim() == []
        assert await endless.release(second) == [Verdict.ok]


@pytest.mark.case("L8")
async def test_an_old_token_is_refused_everywhere_also_under_an_id_used_again(lanes: Lanes, redis: Redis) -> None:
    (job_id,) = await fill(lanes, A, 1)
    old = await lanes.claim(lease_ms=1)
    await lapse(redis, old)
    await lanes.reap(10)
    new = await lanes.claim()

    async def refused() -> None:
        assert await lanes.extend(old, 60_000) == [Verdict.stale]
        assert await lanes.complete(old, cooldown_ms=60_000) == [Verdict.stale]
        assert await lanes.release(old) == [Verdict.stale]
        assert await lanes.retry(old[0], "late") is Verdict.stale

    await refused()
    await lanes.complete(new)
    await refused()
    await lanes.enqueue(A, job_id, b"again")
    await refused()
    (again,) = await lanes.claim()
    await refused()
    assert (again.id, again.payload, again.attempts) == (job_id, b"again", 1)
    assert await lanes.complete([again]) == [Verdict.ok]
