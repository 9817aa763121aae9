"""The worker loop: parks, stops gracefully, outlives outages, and gives back what it could not run."""

from __future__ import annotations

import asyncio

from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from structlog.testing import capture_logs

from engine.ids import JOB, ROOM, Minter
from engine.lanes import Job, Lanes, Shift, Worker
from engine.workers.loop import worker
from tests.waiting import wait_until

MINTER = Minter(5)
SHIFT = Shift(batch=10, at_once=1, together=True, outside=(Exception,))


def make(lanes: Lanes, handled: list[Job], *, fail: int = 0) -> Worker:
    """A loop that completes what it claims, after failing ``fail`` times."""
    failures = [fail]

    async def handle(jobs: list[Job]) -> None:
        if failures[0]:
            failures[0] -= 1
            raise RedisConnectionError("gone")
        await lanes.complete(jobs)
        handled.extend(jobs)

    return worker("test", lanes, handle, SHIFT)


async def fill(lanes: Lanes, count: int) -> list[str]:
    group = MINTER.mint(ROOM)
    ids = [MINTER.mint(JOB) for _ in range(count)]
    for id_ in ids:
        await lanes.enqueue(group, id_, b"")
    return ids


async def test_a_parked_loop_wakes_for_a_job_and_stops_when_told(redis: Redis) -> None:
    lanes, handled, stop = Lanes(redis, "loop"), list[Job](), asyncio.Event()
    loop = make(lanes, handled)
    running = asyncio.create_task(loop.run(stop))
    await wait_until(lambda: loop.last_claim_monotonic_ms, "the loop's first claim")
    ids = await fill(lanes, 25)
    await wait_until(lambda: len(handled) == 25, "all jobs handled")
    stop.set()
    await asyncio.wait_for(running, 2)
    assert [job.id for job in handled] == ids


async def test_an_outage_gives_the_jobs_back_unburnt_and_the_loop_goes_on(redis: Redis) -> None:
    lanes, handled, stop = Lanes(redis, "loop"), list[Job](), asyncio.Event()
    ids = await fill(lanes, 3)
    running = asyncio.create_task(make(lanes, handled, fail=3).run(stop))
    await wait_until(lambda: len(handled) == 3, "all jobs handled after three failures")
    stop.set()
    await running
    assert [job.id for job in handled] == ids
    assert {job.attempts for job in handled} == {1}


async def test_a_stop_finishes_what_was_taken_and_takes_no_more(redis: Redis) -> None:
    lanes, stop = Lanes(redis, "loop"), asyncio.Event()
    await fill(lanes, 30)
    handled: list[Job] = []

    async def handle(jobs: list[Job]) -> None:
        stop.set()
        await lanes.complete(jobs)
        handled.extend(jobs)

    await asyncio.wait_for(worker("test", lanes, handle, SHIFT).run(stop), 5)
    assert len(handled) == 10
    assert len(await lanes.claim(100)) == 20


async def test_a_cancelled_loop_gives_back_what_it_had_not_settled(redis: Redis) -> None:
    lanes, begun = Lanes(redis, "loop"), asyncio.Event()
    ids = await fill(lanes, 3)

    async def handle(_: list[Job]) -> None:
        begun.set()
        await asyncio.Event().wait()

    running = asyncio.create_task(worker("test", lanes, handle, SHIFT).run(asyncio.Event()))
    await begun.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    again = await lanes.claim(10)
    assert [(job.id, job.attempts) for job in again] == [(id_, 1) for id_ in ids]


async def test_each_claim_that_got_something_is_logged_as_claimed(redis: Redis) -> None:
    lanes, handled, stop = Lanes(redis, "loop"), list[Job](), asyncio.Event()
    await fill(lanes, 12)
    with capture_logs() as logged:
        running = asyncio.create_task(make(lanes, handled).run(stop))
        await wait_until(lambda: len(handled) == 12, "all jobs handled")
        stop.set()
        await running
    claims = [(line["queue"], line["count"]) for line in logged if line["event"] == "claimed"]
    assert claims == [("loop", 10), ("loop", 2)]
