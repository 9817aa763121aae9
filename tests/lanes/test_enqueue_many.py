"""enqueue_many: many admissions in one round trip, a verdict each."""

from __future__ import annotations

import pytest

from engine.lanes import Admission, BadId, Lanes, Submission
from tests.lanes.counting import Counted
from tests.lanes.naming import ANA, BEN, A, B, new_job, new_jobs, room
from tests.lanes.oracle import Oracle
from tests.lanes.watching import WatchedRedis


async def test_verdicts_come_in_the_order_handed_in(lanes: Lanes) -> None:
    known, fresh, later = new_jobs(3)
    await lanes.enqueue(A, known, b"")
    assert await lanes.enqueue_many(
        [
            Submission(A, fresh, b""),
            Submission(B, known, b""),
            Submission(A, later, b"", delay_ms=3_600_000),
            Submission(B, fresh, b""),
        ]
    ) == [Admission.enqueued, Admission.duplicate, Admission.scheduled, Admission.duplicate]
    assert (await lanes.depth(A), await lanes.depth(B)) == (3, 0)


async def test_each_comes_back_with_all_it_was_given(lanes: Lanes) -> None:
    first, second = new_jobs(2)
    await lanes.enqueue_many([Submission(A, first, b"one", lane=ANA), Submission(A, second, b"two", lane=BEN)])
    assert [(job.id, job.lane, job.payload) for job in await lanes.claim(9)] == [
        (first, ANA, b"one"),
        (second, BEN, b"two"),
    ]


async def test_seq_follows_the_order_handed_in_across_groups(lanes: Lanes) -> None:
    admitted = new_jobs(30)[::-1]
    await lanes.enqueue_many([Submission(room(number % 7), job_id, b"") for number, job_id in enumerate(admitted)])
    served = sorted(await lanes.claim(99), key=lambda job: job.seq)
    assert [job.id for job in served] == admitted


async def test_groups_join_the_ring_in_the_order_handed_in(lanes: Lanes, oracle: Oracle) -> None:
    await lanes.enqueue_many([Submission(group, new_job(), b"") for group in (B, A, B, A)])
    assert (await oracle.look()).ring == [B, A]


async def test_a_group_joins_the_ring_with_its_first_job_that_is_not_delayed(lanes: Lanes, oracle: Oracle) -> None:
    await lanes.enqueue_many(
        [
            Submission(A, new_job(), b"", delay_ms=3_600_000),
            Submission(B, new_job(), b""),
            Submission(A, new_job(), b""),
        ]
    )
    assert (await oracle.look()).ring == [B, A]


async def test_a_dedup_key_given_twice_in_one_call_is_refused_the_second_time(lanes: Lanes) -> None:
    jobs = [Submission(A, new_job(), b"", dedup="message 7") for _ in range(2)]
    assert await lanes.enqueue_many(jobs) == [Admission.enqueued, Admission.duplicate]


async def test_weights_are_stamped_here_too(lanes: Lanes) -> None:
    await lanes.enqueue_many([Submission(A, new_job(), b"", weight=2) for _ in range(4)])
    await lanes.enqueue_many([Submission(B, new_job(), b"") for _ in range(4)])
    assert [job.group for job in await lanes.claim(6)] == [A, A, B, A, A, B]


async def test_nothing_to_admit_is_fine(lanes: Lanes) -> None:
    assert await lanes.enqueue_many([]) == []


async def test_one_bad_name_refuses_the_whole_call(lanes: Lanes) -> None:
    with pytest.raises(BadId):
        await lanes.enqueue_many([Submission(A, new_job(), b""), Submission("*", new_job(), b"")])
    assert await lanes.depth(A) == 0


async def test_barred_groups_do_not_join_the_ring(lanes: Lanes, oracle: Oracle) -> None:
    await lanes.pause(A)
    await lanes.enqueue_many([Submission(group, new_job(), b"") for group in (A, B, A)])
    assert (await oracle.look()).ring == [B]
    assert await lanes.depth(A) == 2


async def test_many_admissions_are_one_round_trip(lanes: Lanes, redis: WatchedRedis) -> None:
    await lanes.enqueue(A, new_job(), b"")
    async with Counted(redis) as counted:
        verdicts = await lanes.enqueue_many([Submission(A, job_id, b"") for job_id in new_jobs(500)])
    assert verdicts == [Admission.enqueued] * 500
    assert counted.scripts == 1
    assert counted.scanning == {}


async def test_a_very_long_list_is_admitted_whole_and_in_order(lanes: Lanes, redis: WatchedRedis) -> None:
    admitted = new_jobs(12_000)
    with redis.unwatched():
        verdicts = await lanes.enqueue_many([Submission(A, job_id, b"") for job_id in admitted])
        assert verdicts == [Admission.enqueued] * 12_000
        served = await lanes.claim(10_000) + await lanes.claim(10_000)
        assert [job.id for job in served] == admitted
        await lanes.complete(served)
