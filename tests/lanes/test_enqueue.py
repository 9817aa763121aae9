"""enqueue: idempotent admission in one script."""

from __future__ import annotations

import time

import pytest
from redis.asyncio import Redis

from engine import ids
from engine.lanes import Admission, BadId, Lanes, Submission
from tests.lanes.naming import ANA, BEN, A, B, new_job, new_jobs
from tests.lanes.oracle import Oracle
from tests.lanes.steps import claimed_ids, lapse, past, server_ms
from tests.waiting import wait_until


async def test_an_admitted_job_comes_back_with_all_it_was_given(lanes: Lanes, redis: Redis) -> None:
    job_id, payload = new_job(), bytes(range(256))
    before = await server_ms(redis)
    assert await lanes.enqueue(A, job_id, payload, lane=ANA) is Admission.enqueued
    after = await server_ms(redis)
    (job,) = await lanes.claim()
    assert (job.id, job.group, job.lane, job.payload, job.attempts) == (job_id, A, ANA, payload, 1)
    assert before <= job.enqueued_ms <= after


@pytest.mark.parametrize("payload", [b"", b"\x00", b"x" * 64 * 1024], ids=["empty", "nul", "large"])
async def test_a_payload_is_bytes_and_stays_as_it_is(lanes: Lanes, payload: bytes) -> None:
    await lanes.enqueue(A, new_job(), payload)
    (job,) = await lanes.claim()
    assert job.payload == payload


async def test_a_lane_left_out_is_the_group_itself(lanes: Lanes, oracle: Oracle) -> None:
    await lanes.enqueue(A, new_job(), b"")
    assert (await oracle.look()).inner == {A: [A]}
    (job,) = await lanes.claim()
    assert job.lane == A


async def test_a_lane_gives_its_jobs_in_the_order_of_admission(lanes: Lanes) -> None:
    admitted = new_jobs(20)[::-1]  # the ids' own order is not the order
    for job_id in admitted:
        await lanes.enqueue(A, job_id, b"", lane=ANA)
    assert await claimed_ids(lanes, 20) == admitted


async def test_seq_grows_with_every_admission_in_any_group(lanes: Lanes) -> None:
    for group in (A, B, A, B):
        await lanes.enqueue(group, new_job(), b"")
    jobs = await lanes.claim(4)
    assert [job.seq for job in jobs] == sorted({job.seq for job in jobs})


async def test_seq_and_token_go_on_growing_after_redis_lost_everything(lanes: Lanes, redis: Redis) -> None:
    await lanes.enqueue(A, new_job(), b"")
    (before,) = await lanes.claim()
    await redis.flushall()
    await lanes.enqueue(A, new_job(), b"")
    (after,) = await lanes.claim()
    assert after.seq > before.seq
    assert after.token > before.token


async def test_seq_and_token_go_on_growing_when_the_servers_clock_steps_back(lanes: Lanes, redis: Redis) -> None:
    ahead_us = (await server_ms(redis) + 3_600_000) * 1000  # what was given before the step
    await redis.hset("emq:{cm}:state", "clock", str(ahead_us))
    for _ in range(3):
        await lanes.enqueue(A, new_job(), b"")
        await lanes.enqueue_many([Submission(A, job_id, b"") for job_id in new_jobs(2)])
    jobs = await lanes.claim(5) + await lanes.claim(4)
    seqs, tokens = [job.seq for job in jobs], [job.token for job in jobs]
    assert seqs == sorted(set(seqs))
    assert tokens == sorted(set(tokens))
    assert min(*seqs, *tokens) > ahead_us


async def test_the_id_of_a_waiting_job_is_refused_and_its_job_is_untouched(lanes: Lanes) -> None:
    job_id = new_job()
    await lanes.enqueue(A, job_id, b"first", lane=ANA)
    assert await lanes.enqueue(A, job_id, b"second", lane=BEN) is Admission.duplicate
    assert await lanes.enqueue(B, job_id, b"third") is Admission.duplicate
    assert (await lanes.depth(A), await lanes.depth(B)) == (1, 0)
    (job,) = await lanes.claim(9)
    assert (job.group, job.lane, job.payload) == (A, ANA, b"first")


async def test_the_id_of_a_scheduled_job_is_refused(lanes: Lanes) -> None:
    job_id = new_job()
    await lanes.enqueue(A, job_id, b"", delay_ms=3_600_000)
    assert await lanes.enqueue(A, job_id, b"") is Admission.duplicate
    assert await lanes.claim() == []


async def test_the_id_of_a_leased_job_is_refused_also_after_its_lease_lapsed(lanes: Lanes, redis: Redis) -> None:
    job_id = new_job()
    await lanes.enqueue(A, job_id, b"")
    jobs = await lanes.claim(lease_ms=1)
    assert await lanes.enqueue(A, job_id, b"") is Admission.duplicate
    await lapse(redis, jobs)
    assert await lanes.enqueue(A, job_id, b"") is Admission.duplicate


async def test_the_id_of_a_dead_job_is_refused(redis: Redis) -> None:
    lanes = Lanes(redis, "cm", max_attempts=1)
    job_id = new_job()
    await lanes.enqueue(A, job_id, b"")
    (job,) = await lanes.claim()
    await lanes.retry(job, "broken")
    assert await lanes.enqueue(A, job_id, b"") is Admission.duplicate


async def test_the_id_of_a_completed_job_is_free_again(lanes: Lanes) -> None:
    job_id = new_job()
    await lanes.enqueue(A, job_id, b"first")
    await lanes.complete(await lanes.claim())
    assert await lanes.enqueue(A, job_id, b"second") is Admission.enqueued
    (job,) = await lanes.claim()
    assert (job.payload, job.attempts) == (b"second", 1)


async def test_a_known_dedup_key_is_refused_under_any_id_and_group(lanes: Lanes) -> None:
    assert await lanes.enqueue(A, new_job(), b"", dedup="message 7") is Admission.enqueued
    assert await lanes.enqueue(A, new_job(), b"", dedup="message 7") is Admission.duplicate
    assert await lanes.enqueue(B, new_job(), b"", dedup="message 7", delay_ms=5) is Admission.duplicate
    assert await lanes.enqueue(A, new_job(), b"", dedup="message 8") is Admission.enqueued
    assert (await lanes.depth(A), await lanes.depth(B)) == (2, 0)


async def test_a_dedup_key_outlives_its_job(lanes: Lanes) -> None:
    await lanes.enqueue(A, new_job(), b"", dedup="message 7")
    await lanes.complete(await lanes.claim())
    assert await lanes.enqueue(A, new_job(), b"", dedup="message 7") is Admission.duplicate


async def test_a_dedup_key_is_forgotten_after_its_time(lanes: Lanes) -> None:
    await lanes.enqueue(A, new_job(), b"", dedup="message 7", dedup_ms=5)

    async def admitted_again() -> bool:
        return await lanes.enqueue(A, new_job(), b"", dedup="message 7") is Admission.enqueued

    await wait_until(admitted_again, "the dedup key is forgotten")
    assert await lanes.depth(A) == 2


async def test_a_dedup_key_is_remembered_for_a_day_unless_told_otherwise(lanes: Lanes, oracle: Oracle) -> None:
    await lanes.enqueue(A, new_job(), b"", dedup="message 7")
    (ttl_ms,) = (await oracle.look()).dedup.values()
    assert 86_390_000 < ttl_ms <= 86_400_000


@pytest.mark.parametrize("dedup", ["*", "{x}", "a:b", "a\x00b", "ü" * 200])
async def test_a_dedup_key_may_be_any_text(lanes: Lanes, dedup: str) -> None:
    assert await lanes.enqueue(A, new_job(), b"", dedup=dedup) is Admission.enqueued
    assert await lanes.enqueue(A, new_job(), b"", dedup=dedup) is Admission.duplicate


async def test_queues_do_not_share_ids_or_dedup_keys(lanes: Lanes, redis: Redis) -> None:
    other = Lanes(redis, "cm.notify")
    job_id = new_job()
    await lanes.enqueue(A, job_id, b"here", dedup="message 7")
    assert await other.enqueue(A, job_id, b"there", dedup="message 7") is Admission.enqueued
    assert [job.payload for job in await other.claim(9)] == [b"there"]
    assert [job.payload for job in await lanes.claim(9)] == [b"here"]


async def test_a_delayed_job_waits_for_its_time_on_the_servers_clock(lanes: Lanes, redis: Redis) -> None:
    due_ms = await server_ms(redis) + 300
    assert await lanes.enqueue(A, new_job(), b"", delay_ms=300) is Admission.scheduled
    assert await lanes.claim() == []
    assert await lanes.depth(A) == 1
    await wait_until(lanes.claim, "the delayed job is served")
    assert await server_ms(redis) >= due_ms


async def test_a_delayed_job_keeps_the_place_of_its_admission(lanes: Lanes, redis: Redis) -> None:
    first, second = new_jobs(2)
    await lanes.enqueue(A, first, b"", delay_ms=1)
    await lanes.enqueue(A, second, b"")
    await past(redis, await server_ms(redis) + 1)
    assert await claimed_ids(lanes, 2) == [first, second]


async def test_a_newcomer_joins_the_tail_of_the_ring(lanes: Lanes, oracle: Oracle) -> None:
    await lanes.enqueue(B, new_job(), b"")
    await lanes.enqueue(A, new_job(), b"")
    await lanes.enqueue(B, new_job(), b"")
    assert (await oracle.look()).ring == [B, A]


async def test_admission_to_a_full_group_does_not_put_it_on_the_ring(lanes: Lanes, oracle: Oracle) -> None:
    await lanes.limit(A, 1)
    await lanes.enqueue(A, new_job(), b"")
    await lanes.claim()
    await lanes.enqueue(A, new_job(), b"")
    assert (await oracle.look()).ring == []
    assert await lanes.claim() == []


async def test_admission_to_a_paused_group_is_accepted_and_waits(lanes: Lanes) -> None:
    await lanes.pause(A)
    assert await lanes.enqueue(A, new_job(), b"") is Admission.enqueued
    assert await lanes.claim() == []
    assert await lanes.depth(A) == 1


async def test_the_clock_of_this_machine_decides_nothing(lanes: Lanes, monkeypatch: pytest.MonkeyPatch) -> None:
    await lanes.enqueue(A, new_job(), b"")
    monkeypatch.setattr(time, "time", lambda: 0.0)
    monkeypatch.setattr(time, "time_ns", lambda: 0)
    await lanes.enqueue(A, new_job(), b"")
    monkeypatch.undo()
    first, second = await lanes.claim(2)
    assert first.seq < second.seq
    assert 0 <= second.enqueued_ms - first.enqueued_ms < 60_000
    assert 0 <= second.lease_until_ms - first.lease_until_ms < 60_000


BAD_IDS = {
    "star": "*",
    "braces": "{x}",
    "colon": "a:b",
    "empty": "",
    "10 KB": "R" * 10_240,
    "nul": "ROM0KHTOWnGL\x00C",
    "newline": "ROM0KHTOWnGLuC\n",
    "range": "USRzzzzzzzzzzz",
    "small kind": "usr0KHTOWnGLuC",
    "bytes": b"ROM0KHTOWnGLuC",
    "none": None,
    "number": 7,
}


@pytest.mark.case("L27")
@pytest.mark.parametrize("bad", BAD_IDS.values(), ids=BAD_IDS)
async def test_a_name_that_is_no_id_is_refused_before_anything_is_sent(deaf: Lanes, bad: str) -> None:
    with pytest.raises(BadId):
        await deaf.enqueue(bad, new_job(), b"")
    with pytest.raises(BadId):
        await deaf.enqueue(A, bad, b"")
    if bad is not None:
        with pytest.raises(BadId):
            await deaf.enqueue(A, new_job(), b"", lane=bad)
    for verb in (deaf.pause, deaf.resume, deaf.depth, deaf.oldest):
        with pytest.raises(BadId):
            await verb(bad)
    for lever in (deaf.limit, deaf.weight, deaf.hold):
        with pytest.raises(BadId):
            await lever(bad, 1)
    with pytest.raises(BadId):
        await deaf.job(bad)
    good = Submission(A, new_job(), b"")
    for admission in (Submission(bad, new_job(), b""), Submission(A, bad, b"")):
        with pytest.raises(BadId):
            await deaf.enqueue_many([good, admission])


async def test_a_job_id_of_another_kind_is_refused(deaf: Lanes) -> None:
    with pytest.raises(BadId, match="JOB"):
        await deaf.enqueue(A, ids.brand(ids.NOTICE, 1), b"")


async def test_a_queue_may_insist_on_another_kind_or_on_none(redis: Redis) -> None:
    notice = ids.brand(ids.NOTICE, 1)
    strict, open_to_all = Lanes(redis, "cm.notify", job_kind="NOT"), Lanes(redis, "cm", job_kind=None)
    with pytest.raises(BadId):
        await strict.enqueue(A, new_job(), b"")
    assert await strict.enqueue(A, notice, b"") is Admission.enqueued
    assert await open_to_all.enqueue(A, notice, b"") is Admission.enqueued
    assert await open_to_all.enqueue(A, new_job(), b"") is Admission.enqueued
    with pytest.raises(BadId):
        await open_to_all.enqueue(A, "anything", b"")
