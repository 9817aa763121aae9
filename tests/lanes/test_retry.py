"""retry: a job that failed comes back to its own place, later, or not at all."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from engine.lanes import Lanes, Verdict
from tests.lanes.naming import ANA, BEN, A, B
from tests.lanes.oracle import Oracle
from tests.lanes.steps import claimed_ids, fill, lapse, past, server_ms


@pytest.mark.case("L17")
async def test_a_job_retried_at_once_is_served_before_the_rest_of_its_lane(lanes: Lanes) -> None:
    first, second, third = await fill(lanes, A, 3, lane=ANA)
    (job,) = await lanes.claim()
    assert await lanes.retry(job, "broken", delay_ms=0) is Verdict.ok
    assert await claimed_ids(lanes, 9) == [first, second, third]


@pytest.mark.case("L17")
async def test_a_job_retried_later_comes_back_to_its_place(lanes: Lanes, redis: Redis) -> None:
    first, second, third = await fill(lanes, A, 3, lane=ANA)
    (job,) = await lanes.claim()
    await lanes.retry(job, "broken", delay_ms=1)
    await past(redis, await server_ms(redis) + 1)
    assert await claimed_ids(lanes, 9) == [first, second, third]


async def test_a_retry_keeps_seq_payload_and_lane_and_counts_the_next_attempt(lanes: Lanes) -> None:
    await lanes.enqueue(A, (await fill(lanes, A, 1, lane=BEN))[0], b"ignored: a duplicate")
    (job,) = await lanes.claim()
    await lanes.retry(job, "broken", delay_ms=0)
    (again,) = await lanes.claim()
    assert (again.id, again.seq, again.payload, again.lane) == (job.id, job.seq, job.payload, job.lane)
    assert (again.enqueued_ms, again.attempts) == (job.enqueued_ms, 2)


async def test_a_delayed_retry_is_scheduled_and_counts_as_depth(lanes: Lanes, oracle: Oracle) -> None:
    await fill(lanes, A, 1)
    (job,) = await lanes.claim()
    assert await lanes.retry(job, "broken", delay_ms=3_600_000) is Verdict.ok
    assert await lanes.claim() == []
    assert await lanes.depth(A) == 1
    assert [entry.job for entry in (await oracle.look()).schedule] == [job.id]


async def backoffs(lanes: Lanes, redis: Redis, oracle: Oracle, attempts: int) -> list[int]:
    """Fail one job again and again, and tell how long it was put off each time."""
    delays = []
    await fill(lanes, A, 1)
    for _ in range(attempts):
        (job,) = await lanes.claim()
        now_ms = await server_ms(redis)
        assert await lanes.retry(job, "broken") is Verdict.ok
        scheduled = (await oracle.look()).schedule
        delays.append(scheduled[0].score - now_ms if scheduled else 0)
        for entry in scheduled:
            await redis.zadd("emq:{cm}:schedule", {entry.member: 1}, xx=True)  # its time has come
    await lanes.complete(await lanes.claim())
    return delays


async def test_without_a_delay_the_job_backs_off_further_each_time(redis: Redis, oracle: Oracle) -> None:
    lanes = Lanes(redis, "cm", max_attempts=None, backoff_ms=10_000)
    tries = [await backoffs(lanes, redis, oracle, 4) for _ in range(20)]
    for attempt in range(4):
        delays = [delays[attempt] for delays in tries]
        assert max(delays) <= 10_000 * 2**attempt + 1_000
        assert len(set(delays)) > 10, "jobs that failed together come back together"
    assert max(delays[3] for delays in tries) > 10_000


async def test_no_backoff_is_longer_than_its_ceiling(redis: Redis, oracle: Oracle) -> None:
    lanes = Lanes(redis, "cm", max_attempts=None, backoff_ms=1_000_000, backoff_ceiling_ms=2_000_000)
    assert max(await backoffs(lanes, redis, oracle, 12)) <= 2_001_000


@pytest.mark.parametrize("delay_ms", [None, 0, 5])
async def test_a_job_at_its_last_attempt_is_buried(redis: Redis, oracle: Oracle, delay_ms: int | None) -> None:
    lanes = Lanes(redis, "cm", max_attempts=2)
    await fill(lanes, A, 1)
    (job,) = await lanes.claim()
    assert await lanes.retry(job, "broken", delay_ms=0) is Verdict.ok
    (job,) = await lanes.claim()
    assert await lanes.retry(job, "broken again", delay_ms) is Verdict.dead
    state = await oracle.look()
    assert [entry.job for entry in state.dead] == [job.id]
    assert (await lanes.depth(A), await lanes.oldest(A)) == (0, None)
    assert await lanes.claim() == []
    assert await lanes.retry(job, "late", delay_ms=0) is Verdict.stale


async def test_without_a_maximum_no_job_is_buried(redis: Redis) -> None:
    lanes = Lanes(redis, "cm", max_attempts=None)
    await fill(lanes, A, 1)
    for attempt in range(1, 30):
        (job,) = await lanes.claim()
        assert job.attempts == attempt
        assert await lanes.retry(job, "broken", delay_ms=0) is Verdict.ok


async def test_five_attempts_are_the_default(lanes: Lanes) -> None:
    await fill(lanes, A, 1)
    verdicts = []
    for _ in range(5):
        (job,) = await lanes.claim()
        verdicts.append(await lanes.retry(job, "broken", delay_ms=0))
    assert verdicts == [Verdict.ok] * 4 + [Verdict.dead]


@pytest.mark.case("L5")
@pytest.mark.parametrize("how", ["at once", "later", "buried"])
async def test_retrying_frees_the_slot_at_once(redis: Redis, how: str) -> None:
    lanes = Lanes(redis, "cm", max_attempts=1 if how == "buried" else 5)
    await lanes.limit(A, 1)
    first, second = await fill(lanes, A, 2)
    (job,) = await lanes.claim(9)
    await lanes.retry(job, "broken", delay_ms=3_600_000 if how == "later" else 0)
    assert await claimed_ids(lanes, 9) == [first if how == "at once" else second]


async def test_a_settled_or_reaped_job_cannot_be_retried(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 1)
    (job,) = await lanes.claim(lease_ms=1)
    await lapse(redis, [job])
    await lanes.reap(10)
    assert await lanes.retry(job, "late", delay_ms=0) is Verdict.stale
    (again,) = await lanes.claim()
    await lanes.complete([again])
    assert await lanes.retry(again, "late", delay_ms=0) is Verdict.stale
    assert await lanes.claim() == []


@pytest.mark.parametrize("error", ["", "é\x00\n" * 10, "x" * 100_000], ids=["empty", "odd", "endless"])
async def test_any_error_text_will_do(lanes: Lanes, error: str) -> None:
    await fill(lanes, A, 1)
    (job,) = await lanes.claim()
    assert await lanes.retry(job, error, delay_ms=0) is Verdict.ok
    assert len(await lanes.claim()) == 1


async def test_a_retried_job_does_not_move_its_group_ahead(lanes: Lanes) -> None:
    await fill(lanes, A, 2)
    await fill(lanes, B, 2)
    (job,) = await lanes.claim()
    await lanes.retry(job, "broken", delay_ms=0)
    assert [job.group for job in await lanes.claim(2)] == [B, A]
