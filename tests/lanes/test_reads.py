"""depth, oldest and job: reads that change nothing."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from engine.lanes import BadArgument, Lanes, QueueFull, State
from tests.lanes.naming import ANA, BEN, A, B, new_job
from tests.lanes.oracle import Oracle
from tests.lanes.steps import fill, lapse, server_ms
from tests.lanes.travelling import travel


async def test_depth_counts_what_waits_and_what_is_scheduled_in_all_lanes(lanes: Lanes) -> None:
    assert await lanes.depth(A) == 0
    await fill(lanes, A, 3, lane=ANA)
    await fill(lanes, A, 2, lane=BEN)
    await lanes.enqueue(A, new_job(), b"", delay_ms=3_600_000)
    await fill(lanes, B, 1)
    assert await lanes.depth(A) == 6
    jobs = await lanes.claim(3)
    assert await lanes.depth(A) == 4
    await lanes.retry(jobs[0], "broken", delay_ms=3_600_000)
    assert await lanes.depth(A) == 5
    await lanes.complete(jobs[2:])
    assert (await lanes.depth(A), await lanes.depth(B)) == (5, 0)


async def test_oldest_is_none_for_a_group_that_has_nothing(lanes: Lanes) -> None:
    assert await lanes.oldest(A) is None
    await fill(lanes, A, 1)
    assert await lanes.oldest(B) is None
    await lanes.complete(await lanes.claim())
    assert await lanes.oldest(A) is None


async def test_oldest_is_the_smallest_seq_that_waits_is_scheduled_or_runs(lanes: Lanes) -> None:
    await fill(lanes, A, 2, lane=ANA)
    await fill(lanes, A, 2, lane=BEN)
    first, third, second, fourth = await lanes.claim(4)
    assert [first.seq, second.seq, third.seq, fourth.seq] == sorted(job.seq for job in (first, second, third, fourth))
    assert await lanes.oldest(A) == first.seq
    await lanes.retry(first, "broken", delay_ms=3_600_000)
    assert await lanes.oldest(A) == first.seq  # scheduled
    await lanes.complete([second])
    await lanes.release([third])
    assert await lanes.oldest(A) == first.seq


async def test_oldest_looks_into_every_lane(lanes: Lanes) -> None:
    await fill(lanes, A, 1, lane=BEN)
    await fill(lanes, A, 1, lane=ANA)
    ben, ana = await lanes.claim(2)
    await lanes.release([ana])
    await lanes.release([ben])
    assert await lanes.oldest(A) == ben.seq
    (job,) = await lanes.claim()
    assert job.lane == ANA
    assert await lanes.oldest(A) == ben.seq


async def test_oldest_moves_on_when_the_oldest_completes_or_dies(redis: Redis) -> None:
    lanes = Lanes(redis, "cm", max_attempts=1)
    await fill(lanes, A, 3)
    first, second, third = await lanes.claim(3)
    await lanes.complete([first])
    assert await lanes.oldest(A) == second.seq
    await lanes.retry(second, "broken")
    assert await lanes.oldest(A) == third.seq


async def test_oldest_counts_a_lapsed_lease_until_somebody_settles_it(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 1)
    (job,) = await lanes.claim(lease_ms=1)
    await lapse(redis, [job])
    assert await lanes.oldest(A) == job.seq
    await lanes.reap(10)
    assert await lanes.oldest(A) == job.seq


async def test_a_job_nobody_knows_is_none(lanes: Lanes) -> None:
    assert await lanes.job(new_job()) is None


async def test_a_job_is_told_wherever_it_is(redis: Redis, oracle: Oracle) -> None:
    lanes = Lanes(redis, "cm", max_attempts=2)
    (job_id,) = await fill(lanes, A, 1, lane=ANA)

    async def told() -> tuple[State, int, str]:
        record = await lanes.job(job_id)
        assert record is not None
        assert (record.id, record.group, record.lane, record.payload) == (job_id, A, ANA, b"")
        return record.state, record.attempts, record.error

    assert await told() == (State.waiting, 0, "")
    (job,) = await lanes.claim()
    assert await told() == (State.leased, 1, "")
    await lanes.retry(job, "timed out", delay_ms=3_600_000)
    assert await told() == (State.scheduled, 1, "timed out")
    record = await lanes.job(job_id)
    assert record is not None
    assert record.seq == job.seq
    assert record.enqueued_ms == job.enqueued_ms
    assert record.at_ms > await server_ms(redis)
    (entry,) = (await oracle.look()).schedule
    await redis.zadd("emq:{cm}:schedule", {entry.member: 1})  # its time has come
    (job,) = await lanes.claim()
    assert job.attempts == 2
    await lanes.retry(job, "timed out again")
    assert await told() == (State.dead, 2, "timed out again")


async def test_a_released_or_reaped_job_is_told_as_waiting_with_the_attempts_it_burnt(
    lanes: Lanes, redis: Redis
) -> None:
    (job_id,) = await fill(lanes, A, 1)

    async def told() -> tuple[State, int]:
        record = await lanes.job(job_id)
        assert record is not None
        return record.state, record.attempts

    await lanes.release(await lanes.claim())
    assert await told() == (State.waiting, 0)
    await lapse(redis, await lanes.claim(lease_ms=1))
    await lanes.reap(1)
    assert await told() == (State.waiting, 1)


async def test_reads_change_nothing(lanes: Lanes, oracle: Oracle) -> None:
    (job_id,) = await fill(lanes, A, 1)
    before = await oracle.raw()
    await lanes.depth(A)
    await lanes.oldest(A)
    await lanes.job(job_id)
    await lanes.depth(B)
    await lanes.oldest(B)
    await lanes.job(new_job())
    assert await oracle.raw() == before


async def test_a_dedup_key_is_known_from_admission_on_and_after_its_job_is_done(lanes: Lanes, redis: Redis) -> None:
    assert not await lanes.known("a message")
    await lanes.enqueue(A, new_job(), b"", dedup="a message", dedup_ms=60_000)
    assert await lanes.known("a message")
    assert await lanes.known(b"a message")
    assert not await lanes.known("another message")
    await lanes.complete(await lanes.claim())
    assert await lanes.known("a message")
    await travel(redis, 60_001)
    assert not await lanes.known("a message")


async def test_a_dedup_key_that_was_refused_is_not_known(lanes: Lanes) -> None:
    await lanes.cap(A, 1)
    await fill(lanes, A, 1)
    with pytest.raises(QueueFull):
        await lanes.enqueue(A, new_job(), b"", dedup="a message")
    assert not await lanes.known("a message")


@pytest.mark.parametrize("key", ["", 5, "x" * 513])
async def test_a_dedup_key_that_could_not_be_admitted_is_refused(lanes: Lanes, key: object) -> None:
    with pytest.raises(BadArgument, match="dedup"):
        await lanes.known(key)  # type: ignore[arg-type] # what somebody might pass
