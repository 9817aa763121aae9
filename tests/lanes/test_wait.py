"""wait: a parked worker sleeps no longer than there is nothing to do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from engine.lanes import Job, Lanes, Submission
from tests.lanes.naming import A, B, new_job, new_jobs, room
from tests.lanes.oracle import Oracle
from tests.lanes.parking import LONG_MS, SOON_S, blocked, parked, took_s
from tests.lanes.sizes import scaled
from tests.lanes.steps import fill, lapse, past, server_ms
from tests.lanes.watching import WatchedRedis
from tests.waiting import wait_until


async def test_an_idle_wait_ends_with_its_timeout(lanes: Lanes) -> None:
    assert 0.04 <= await took_s(lanes.wait(50)) < SOON_S


async def test_a_servable_group_ends_the_wait_before_it_begins(lanes: Lanes) -> None:
    await fill(lanes, A, 1)
    assert await took_s(lanes.wait(LONG_MS)) < SOON_S
    assert await took_s(lanes.wait(LONG_MS)) < SOON_S  # and again: it is still there


async def test_a_wait_takes_no_job(lanes: Lanes) -> None:
    admitted = await fill(lanes, A, 2)
    await lanes.wait(LONG_MS)
    assert [job.id for job in await lanes.claim(9)] == admitted


Before = Callable[[Lanes], Awaitable[list[Job]]]
Act = Callable[[Lanes, list[Job]], Awaitable[object]]


async def nothing(_: Lanes) -> list[Job]:
    return []


async def full(lanes: Lanes) -> list[Job]:
    await lanes.limit(A, 1)
    await fill(lanes, A, 2)
    return await lanes.claim(9)


async def running(lanes: Lanes) -> list[Job]:
    await fill(lanes, A, 1)
    return await lanes.claim(9)


async def paused(lanes: Lanes) -> list[Job]:
    await lanes.pause(A)
    await fill(lanes, A, 1)
    return []


async def spoken(lanes: Lanes) -> list[Job]:
    await fill(lanes, A, 2)
    return await lanes.claim_group(1)


WAKERS: dict[str, tuple[Before, Act]] = {
    "admission": (nothing, lambda lanes, _: fill(lanes, A, 1)),
    "completion": (full, lambda lanes, jobs: lanes.complete(jobs)),
    "retry of another": (full, lambda lanes, jobs: lanes.retry(jobs[0], "broken", delay_ms=3_600_000)),
    "retry of its own": (running, lambda lanes, jobs: lanes.retry(jobs[0], "broken", delay_ms=0)),
    "release": (running, lambda lanes, jobs: lanes.release(jobs)),
    "settling the spoken": (spoken, lambda lanes, jobs: lanes.complete(jobs)),
    "resume": (paused, lambda lanes, _: lanes.resume(A)),
    "raised limit": (full, lambda lanes, _: lanes.limit(A, 2)),
    "limit taken back": (full, lambda lanes, _: lanes.limit(A, None)),
    "short delay": (nothing, lambda lanes, _: lanes.enqueue(A, new_job(), b"", delay_ms=20)),
    "retry with a short delay": (running, lambda lanes, jobs: lanes.retry(jobs[0], "broken", delay_ms=20)),
    "lease cut short": (running, lambda lanes, jobs: lanes.extend(jobs, 20)),
    "short cool-down": (full, lambda lanes, jobs: lanes.complete(jobs, cooldown_ms=20)),
}


@pytest.mark.parametrize(("before", "act"), WAKERS.values(), ids=WAKERS)
async def test_whatever_makes_a_group_servable_ends_the_wait(
    lanes: Lanes, redis: Redis, before: Before, act: Act
) -> None:
    jobs = await before(lanes)
    async with parked(lanes, redis) as (worker,):
        await act(lanes, jobs)
        await asyncio.wait_for(worker, SOON_S)
        served = await wait_until(lambda: _claim_or_park(lanes), "the work is served", timeout_ms=int(SOON_S * 1000))
    assert [job.group for job in served] == [A]


async def _claim_or_park(lanes: Lanes) -> list[Job]:
    """What a worker does: claim, and wait when there is nothing."""
    jobs = await lanes.claim()
    if not jobs:
        await lanes.wait(LONG_MS)
        jobs = await lanes.claim()
    return jobs


@pytest.mark.parametrize("event", ["due job", "end of a hold", "lease deadline"])
async def test_a_time_known_before_the_wait_ends_it(lanes: Lanes, redis: Redis, event: str) -> None:
    if event == "due job":
        await lanes.enqueue(A, new_job(), b"", delay_ms=60)
        await lanes.enqueue(B, new_job(), b"", delay_ms=3_600_000)
    elif event == "end of a hold":
        await fill(lanes, A, 2)
        await lanes.complete(await lanes.claim(), cooldown_ms=60)
    else:
        await fill(lanes, A, 1)
        await lanes.claim(lease_ms=60)
    due_ms = await server_ms(redis) + 60
    assert await took_s(lanes.wait(LONG_MS)) < SOON_S
    await past(redis, due_ms)
    assert [job.group for job in await lanes.claim()] == [A]


async def test_a_lapsed_lease_ends_the_wait_at_once(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 1)
    await lapse(redis, await lanes.claim(lease_ms=1))
    assert await took_s(lanes.wait(LONG_MS)) < SOON_S
    assert len(await lanes.claim()) == 1


async def test_a_lease_that_begins_while_others_park_ends_their_wait(lanes: Lanes, redis: Redis) -> None:
    """Parked before there was any lease, a worker still looks when the first one lapses."""
    async with parked(lanes, redis) as (worker,):
        with_job = asyncio.create_task(_claim_from_another(lanes, redis))
        jobs = await with_job
        began = time.monotonic()
        await asyncio.wait_for(worker, SOON_S)
        while time.monotonic() - began < SOON_S and not (again := await _claim_or_park(lanes)):
            pass
    assert [job.id for job in again] == [job.id for job in jobs]


async def _claim_from_another(lanes: Lanes, redis: Redis) -> list[Job]:
    """Admit a job without a wake, and claim it for a short time."""
    await lanes.pause(A)
    await fill(lanes, A, 1)
    await redis.srem("emq:{cm}:paused", A)
    await lanes.limit(A, 5)
    return await lanes.claim(lease_ms=80)


async def test_a_job_admitted_to_a_barred_group_wakes_nobody(lanes: Lanes, redis: Redis) -> None:
    await lanes.pause(A)
    await lanes.limit(B, 1)
    await fill(lanes, B, 1)
    await lanes.claim()
    await lanes.wait(1)  # drink what the admission left
    async with parked(lanes, redis) as (worker,):
        await fill(lanes, A, 3)
        await fill(lanes, B, 3)
        done, _ = await asyncio.wait([worker], timeout=0.1)
        assert not done


@pytest.mark.case("L25")
@pytest.mark.parametrize("bulk", [False, True])
@pytest.mark.parametrize("jobs", [1, 3, 8])
async def test_as_many_parked_workers_wake_as_there_are_new_jobs(
    lanes: Lanes, redis: Redis, jobs: int, *, bulk: bool
) -> None:
    admissions = [Submission(room(100 + number // 2), job_id, b"") for number, job_id in enumerate(new_jobs(jobs))]
    expected = min(jobs, 5)
    async with parked(lanes, redis, 5) as workers:
        for portion in [admissions] if bulk else [[admission] for admission in admissions]:
            await lanes.enqueue_many(portion)
        await wait_until(lambda: sum(task.done() for task in workers) >= expected, f"{expected} workers wake")
        await asyncio.wait([task for task in workers if not task.done()] or workers, timeout=0.05)
        assert sum(task.done() for task in workers) == expected


@pytest.mark.case("L25")
async def test_a_bulk_for_one_full_group_wakes_no_more_than_its_ceiling_lets_in(lanes: Lanes, redis: Redis) -> None:
    await lanes.limit(A, 2)
    async with parked(lanes, redis, 5) as workers:
        await fill(lanes, A, 5)
        await wait_until(lambda: sum(task.done() for task in workers) >= 2, "two workers wake")


@pytest.mark.case("L25")
async def test_a_claimer_that_leaves_work_behind_wakes_another(lanes: Lanes, redis: Redis) -> None:
    await lanes.pause(A)
    await fill(lanes, A, 4)
    served: list[str] = []

    async def worker() -> None:
        while len(served) < 4:
            jobs = await lanes.claim()
            served.extend(job.id for job in jobs)
            if jobs:
                await blocked_or_done.wait()
            else:
                await lanes.wait(LONG_MS)

    blocked_or_done = asyncio.Event()  # nobody who got a job comes back before all four are out
    workers = [asyncio.create_task(worker()) for _ in range(4)]
    await blocked(redis, 4)
    await lanes.resume(A)
    await wait_until(lambda: len(served) == 4, "all four workers have a job", timeout_ms=int(SOON_S * 1000))
    blocked_or_done.set()
    await asyncio.wait_for(asyncio.gather(*workers), 5)


async def test_the_wake_list_never_grows_beyond_its_bound(lanes: Lanes, oracle: Oracle) -> None:
    for number in range(100):
        await fill(lanes, room(number), 1)
    assert 0 < (await oracle.look()).wake <= 64


async def test_stale_tokens_do_not_keep_a_worker_spinning(lanes: Lanes) -> None:
    for _ in range(10):
        await fill(lanes, A, 1)
        await lanes.complete(await lanes.claim())
    waits = 0
    began = time.monotonic()
    while time.monotonic() - began < 0.3:
        await lanes.wait(100)
        waits += 1
    assert waits <= 64 + 4


async def test_a_cancelled_wait_is_cancelled_and_the_client_still_works(lanes: Lanes, redis: Redis) -> None:
    async with parked(lanes, redis) as (worker,):
        worker.cancel()
        with pytest.raises(asyncio.CancelledError):
            await worker
    await fill(lanes, A, 1)
    assert len(await lanes.claim()) == 1


async def test_a_wait_may_be_longer_than_the_clients_socket_timeout(redis_url: str) -> None:
    async with Redis.from_url(redis_url, socket_timeout=0.1, retry=Retry(NoBackoff(), 0)) as client:
        assert 0.35 <= await took_s(Lanes(client, "cm").wait(400)) < SOON_S


@pytest.mark.case("L23")
@pytest.mark.parametrize("command", ["CLIENT KILL TYPE NORMAL", "CLIENT UNBLOCK", "CLIENT UNBLOCK ERROR"])
async def test_a_worker_whose_wait_was_broken_off_claims_again(
    lanes: Lanes, redis: WatchedRedis, redis_url: str, command: str
) -> None:
    async with Redis.from_url(redis_url) as admin, parked(lanes, redis) as (worker,):
        (client,) = [each for each in await admin.client_list() if each["cmd"] == "blpop"]
        if command.startswith("CLIENT KILL"):
            await admin.client_kill_filter(_id=client["id"])
        else:
            await admin.client_unblock(int(client["id"]), error=command.endswith("ERROR"))
        await asyncio.wait_for(worker, SOON_S)
    await fill(lanes, A, 1)
    assert len(await lanes.claim()) == 1


@pytest.mark.case("L25")
@pytest.mark.timeout(900)
async def test_no_admission_is_lost_between_looking_and_sleeping(lanes: Lanes, redis: WatchedRedis) -> None:
    """A producer and a worker race; the worker never sleeps on a job."""
    served = asyncio.Event()
    longest_s = 0.0

    async def producer() -> None:
        for _ in range(scaled(400, 100_000)):
            served.clear()
            await lanes.enqueue(A, new_job(), b"")
            await served.wait()

    async def worker() -> None:
        nonlocal longest_s
        while True:
            if jobs := await lanes.claim():
                await lanes.complete(jobs)
                served.set()
            else:
                longest_s = max(longest_s, await took_s(lanes.wait(LONG_MS)))

    with redis.unwatched():
        working = asyncio.create_task(worker())
        await asyncio.wait_for(producer(), 900)
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
    assert longest_s < SOON_S
