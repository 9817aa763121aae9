"""Admissions that are awaited in one tick share a round trip; none feels the others."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError

from engine.lanes import Admission, BadArgument, BadId, Lanes, QueueFull
from engine.lanes.gathering import Gathering
from tests.lanes.counting import Counted
from tests.lanes.naming import ANA, BEN, A, B, new_job, new_jobs, room
from tests.lanes.oracle import Oracle
from tests.lanes.steps import claimed_ids
from tests.lanes.watching import WatchedRedis


async def test_a_tick_of_admissions_is_one_script(lanes: Lanes, redis: WatchedRedis) -> None:
    await lanes.enqueue(A, new_job(), b"")
    async with Counted(redis) as counted:
        answers = await asyncio.gather(*(lanes.enqueue(room(number % 7), new_job(), b"") for number in range(50)))
    assert answers == [Admission.enqueued] * 50
    assert counted.scripts == 1


async def test_they_are_admitted_in_the_order_of_their_calls(lanes: Lanes) -> None:
    jobs = new_jobs(20)
    await asyncio.gather(*(lanes.enqueue(A, job_id, b"") for job_id in jobs))
    assert await claimed_ids(lanes, 99) == jobs


async def test_each_has_the_answer_to_its_own_question(lanes: Lanes) -> None:
    known, late = new_job(), new_job()
    await lanes.enqueue(A, known, b"")
    await lanes.cap(B, depth=1)
    answers = await asyncio.gather(
        lanes.enqueue(A, known, b""),
        lanes.enqueue("*", new_job(), b""),
        lanes.enqueue(B, new_job(), b""),
        lanes.enqueue(B, new_job(), b""),
        lanes.enqueue(A, late, b"", delay_ms=3_600_000),
        lanes.enqueue(A, new_job(), "text"),  # type: ignore[arg-type]  # what is under test
        lanes.enqueue(A, late, b""),
        return_exceptions=True,
    )
    kinds = [answer if isinstance(answer, Admission) else type(answer) for answer in answers]
    assert kinds == ["duplicate", BadId, "enqueued", QueueFull, "scheduled", BadArgument, "duplicate"]


async def test_a_lane_that_is_broken_fails_its_own_producers_alone(
    lanes: Lanes, redis: WatchedRedis, oracle: Oracle
) -> None:
    with redis.unwatched():
        await redis.set(f"emq:{{cm}}:g:{A}:{ANA}:pending", "x")
        answers = await asyncio.gather(
            lanes.enqueue(A, new_job(), b"", lane=ANA, dedup="again"),
            lanes.enqueue(A, new_job(), b"", lane=BEN),
            lanes.enqueue(B, new_job(), b""),
            return_exceptions=True,
        )
        assert isinstance(answers[0], ResponseError)
        assert list(answers[1:]) == [Admission.enqueued] * 2
        await redis.delete(f"emq:{{cm}}:g:{A}:{ANA}:pending")
    await oracle.check()
    assert await lanes.enqueue(A, new_job(), b"", lane=ANA, dedup="again") is Admission.enqueued


@pytest.mark.case("L24")
@pytest.mark.parametrize("which", [0, 1, 4])
async def test_a_cancelled_producer_disturbs_no_other(lanes: Lanes, which: int) -> None:
    """Whoever leads may be the one that is cancelled."""
    jobs = new_jobs(5)
    asking = [asyncio.create_task(lanes.enqueue(A, job_id, b"")) for job_id in jobs]
    await asyncio.sleep(0)
    asking[which].cancel()
    answers = await asyncio.gather(*asking, return_exceptions=True)
    assert isinstance(answers.pop(which), asyncio.CancelledError)
    assert answers == ["enqueued"] * 4
    assert set(await claimed_ids(lanes, 99)) >= {job for job in jobs if job != jobs[which]}


@pytest.mark.case("L24")
async def test_cancelling_at_random_loses_no_other_and_swallows_no_cancellation(
    lanes: Lanes, redis: WatchedRedis
) -> None:
    chance = random.Random(0)  # noqa: S311 - no secret
    answered: list[str] = []

    async def produce(job_id: str) -> None:
        await lanes.enqueue(A, job_id, b"")
        answered.append(job_id)

    with redis.unwatched():
        for _ in range(100):
            tasks = [asyncio.create_task(produce(job_id)) for job_id in new_jobs(5)]
            for _ in range(chance.randrange(6)):
                await asyncio.sleep(0)
            condemned = chance.sample(tasks, chance.randrange(4))
            cancelled = [task for task in condemned if task.cancel()]
            await asyncio.gather(*tasks, return_exceptions=True)
            assert all(task.cancelled() for task in cancelled)
            assert all(task.exception() is None for task in tasks if task not in cancelled)
        assert set(answered) <= set(await claimed_ids(lanes, 10_000))


async def test_an_outage_tells_each_by_an_error_of_its_own() -> None:
    async def ask(questions: Sequence[int]) -> Sequence[int]:
        raise RedisConnectionError(f"gone under {len(questions)}")

    gathered: Gathering[int, int] = Gathering(ask)
    errors = await asyncio.gather(*(gathered(number) for number in range(3)), return_exceptions=True)
    assert [str(error) for error in errors] == ["gone under 3"] * 3
    assert len({id(error) for error in errors}) == 3


async def test_a_lone_producer_pays_no_task(lanes: Lanes) -> None:
    before = len(asyncio.all_tasks())
    await lanes.enqueue(A, new_job(), b"")
    assert lanes._gathered._under_way == set()
    assert len(asyncio.all_tasks()) == before
