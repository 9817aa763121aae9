"""The worker: claims, runs, settles and parks, as many at once as it may."""

from __future__ import annotations

import asyncio

import pytest
from redis.asyncio import Redis

from engine.lanes import BadArgument, Job, Lanes, Observers, Shift, State, Worker
from tests.lanes.counting import Counted
from tests.lanes.naming import A, B
from tests.lanes.oracle import Oracle
from tests.lanes.steps import fill
from tests.lanes.watching import WatchedRedis
from tests.lanes.working import Notes, at_work, is_parked
from tests.waiting import wait_until


async def test_jobs_are_run_in_rota_order_and_completed(lanes: Lanes, oracle: Oracle) -> None:
    admitted = [job for pair in zip(await fill(lanes, A, 5), await fill(lanes, B, 5), strict=True) for job in pair]
    ran: list[str] = []

    async def handle(jobs: list[Job]) -> None:
        ran.extend(job.id for job in jobs)

    async with at_work(Worker(lanes, handle, Shift(batch=3, at_once=1))):
        await wait_until(lambda: len(ran) == 10, "all ran")
    assert ran == admitted
    assert (await oracle.look()).groups == set()


async def test_a_parked_worker_wakes_for_a_job(lanes: Lanes, redis: Redis) -> None:
    ran: list[str] = []

    async def handle(jobs: list[Job]) -> None:
        ran.extend(job.id for job in jobs)

    worker = Worker(lanes, handle)
    async with at_work(worker):
        await wait_until(lambda: worker.last_claim_monotonic_ms, "the first claim")
        await is_parked(redis)
        admitted = await fill(lanes, A, 3)
        await wait_until(lambda: ran == admitted, "all ran", timeout_ms=1_500)


async def test_no_more_handlers_run_side_by_side_than_it_may(lanes: Lanes) -> None:
    await fill(lanes, A, 20)
    now, most, ran = 0, 0, 0

    async def handle(jobs: list[Job]) -> None:
        nonlocal now, most, ran
        assert len(jobs) == 1
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.001)
        now -= 1
        ran += 1

    async with at_work(Worker(lanes, handle, Shift(batch=10, at_once=4))):
        await wait_until(lambda: ran == 20, "all ran")
    assert most == 4


async def test_a_slow_job_holds_up_nobody(lanes: Lanes) -> None:
    (slow,) = await fill(lanes, A, 1)
    await fill(lanes, B, 30)
    release, ran = asyncio.Event(), 0

    async def handle(jobs: list[Job]) -> None:
        nonlocal ran
        if jobs[0].id == slow:
            await release.wait()
        ran += 1

    async with at_work(Worker(lanes, handle, Shift(batch=4, at_once=4))):
        await wait_until(lambda: ran == 30, "all others ran")
        release.set()


async def test_one_handler_may_get_all_of_a_claim(lanes: Lanes) -> None:
    await fill(lanes, A, 7)
    batches: list[int] = []

    async def handle(jobs: list[Job]) -> None:
        batches.append(len(jobs))

    async with at_work(Worker(lanes, handle, Shift(batch=5, at_once=1, together=True))):
        await wait_until(lambda: sum(batches) == 7, "all ran")
    assert batches == [5, 2]


async def test_one_worker_at_a_time_speaks_for_a_group(lanes: Lanes) -> None:
    for group in (A, B):
        await fill(lanes, group, 6)
    speaking: set[str] = set()
    said: list[str] = []

    async def handle(jobs: list[Job]) -> None:
        (group,) = {job.group for job in jobs}
        assert group not in speaking
        speaking.add(group)
        await asyncio.sleep(0.002)
        speaking.discard(group)
        said.extend(job.id for job in jobs)

    async with at_work(Worker(lanes, handle, Shift(batch=2, at_once=4, together=True, by_group=True))):
        await wait_until(lambda: len(said) == 12, "all was said")


async def test_what_a_handler_settled_itself_is_left_alone(lanes: Lanes) -> None:
    first, second, third = await fill(lanes, A, 3)
    ran: list[str] = []

    async def handle(jobs: list[Job]) -> None:
        for job in jobs:
            if job.id == first:
                await lanes.retry(job, "later", 3_600_000)
            elif job.id == second:
                await lanes.complete([job])
            ran.append(job.id)

    async with at_work(Worker(lanes, handle, Shift(together=True))):
        await wait_until(lambda: len(ran) == 3, "all ran")
    record = await lanes.job(first)
    assert record is not None
    assert record.state is State.scheduled
    assert (await lanes.job(second), await lanes.job(third)) == (None, None)


async def test_a_worker_without_room_takes_no_wake_from_another(lanes: Lanes, redis: WatchedRedis) -> None:
    """One is busy and full, another is parked: a new job is begun at once."""
    hold, began = asyncio.Event(), list[str]()

    async def handle(jobs: list[Job]) -> None:
        began.append(jobs[0].id)
        await hold.wait()

    with redis.unwatched():
        async with at_work(Worker(lanes, handle, Shift(at_once=1))), at_work(Worker(lanes, handle, Shift(at_once=1))):
            await fill(lanes, A, 1)
            await wait_until(lambda: len(began) == 1, "one is busy")
            await is_parked(redis)
            await fill(lanes, B, 1)
            await wait_until(lambda: len(began) == 2, "the other begins", timeout_ms=1_500)
            hold.set()


async def test_a_busy_worker_makes_one_round_trip_a_batch(lanes: Lanes, redis: WatchedRedis) -> None:
    with redis.unwatched():
        await fill(lanes, A, 320)
        ran = 0

        async def handle(_: list[Job]) -> None:
            nonlocal ran
            ran += 1

        async with Counted(redis) as counted, at_work(Worker(lanes, handle, Shift(batch=32, at_once=32))):
            await wait_until(lambda: ran == 320, "all ran")
    assert counted.scripts <= 10 + 4  # the first and the last claim, the wait, and the oracle's leave


@pytest.mark.parametrize(
    ("bad", "name"),
    [
        ({"batch": 0}, "batch"),
        ({"at_once": 0}, "at_once"),
        ({"lease_ms": 0}, "lease_ms"),
        ({"grace_ms": -1}, "grace_ms"),
        ({"by_group": True}, "together"),
    ],
)
def test_an_absurd_shift_is_refused_by_name(bad: dict[str, int], name: str) -> None:
    with pytest.raises(BadArgument, match=name):
        Shift(**bad)  # type: ignore[arg-type]  # what is under test


@pytest.mark.parametrize("by_group", [False, True])
async def test_every_observer_hears_of_each_claim_that_was_answered(lanes: Lanes, by_group: bool) -> None:  # noqa: FBT001 - a parameter
    """Also of one that got nothing; and how long it took."""
    await fill(lanes, A, 3)
    first, second = Notes(), Notes()

    async def handle(jobs: list[Job]) -> None:
        del jobs

    worker = Worker(lanes, handle, Shift(together=True, by_group=by_group), Observers(first, second))
    async with at_work(worker):
        await wait_until(lambda: len(second.answers) > len(second.claims) > 0, "a claim got nothing")
    assert (first.claims, first.answers) == (second.claims, second.answers)
    assert sum(second.claims) == 3
    assert all(0 < took_ms < 10_000 for took_ms in second.answers)
