"""A handler that fails, a lease that is lost, a server that is gone: a worker loses no job for it, and burns none."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError

from bot.embedded import EmbeddedValkey
from engine.lanes import Job, Lanes, Shift, State, Verdict, Worker
from tests.lanes.naming import A
from tests.lanes.steps import fill
from tests.lanes.watching import WatchedRedis
from tests.lanes.working import Notes, at_work, is_parked
from tests.waiting import wait_until


async def test_a_job_that_fails_is_retried_and_buried_at_last(redis: WatchedRedis) -> None:
    lanes = Lanes(redis, "cm", max_attempts=2, backoff_ms=1)
    bad, good = await fill(lanes, A, 2)
    ran: list[str] = []

    async def handle(jobs: list[Job]) -> None:
        ran.append(jobs[0].id)
        if jobs[0].id == bad:
            raise ValueError("cannot")

    notes = Notes()
    async with at_work(Worker(lanes, handle, observer=notes)):
        await wait_until(lambda: len(notes.retries) == 2, "it is buried")
    assert notes.retries == [(bad, Verdict.ok), (bad, Verdict.dead)]
    assert ran.count(good) == 1
    (dead,) = await lanes.browse(None, 9, State.dead)
    assert (dead.id, dead.error) == (bad, "ValueError: cannot")
    assert notes.failures == []


async def test_something_broken_outside_gives_the_jobs_back_unburnt(lanes: Lanes) -> None:
    admitted = await fill(lanes, A, 3)
    failing, ran = 3, list[Job]()

    async def handle(jobs: list[Job]) -> None:
        nonlocal failing
        if failing:
            failing -= 1
            raise RedisConnectionError("gone")
        ran.extend(jobs)

    notes = Notes()
    async with at_work(Worker(lanes, handle, Shift(batch=10, at_once=1, together=True), notes)):
        await wait_until(lambda: len(ran) == 3, "all ran after three failures")
    assert [job.id for job in ran] == admitted
    assert {job.attempts for job in ran} == {1}
    assert (len(notes.failures), notes.recoveries) == (3, 1)
    assert notes.given_back == admitted * 3


async def test_a_handler_whose_lease_is_lost_is_stopped(lanes: Lanes) -> None:
    (job_id,) = await fill(lanes, A, 1)
    began, stopped = asyncio.Event(), False

    async def handle(_: list[Job]) -> None:
        nonlocal stopped
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped = True

    notes = Notes()
    async with at_work(Worker(lanes, handle, Shift(lease_ms=200), notes)):
        await began.wait()
        await lanes.forget(A)
        await wait_until(lambda: notes.losses, "the loss is told")
    assert stopped
    assert (notes.losses, notes.given_back) == ([job_id], [])


async def test_long_jobs_keep_their_leases(lanes: Lanes) -> None:
    await fill(lanes, A, 3)
    attempts: list[int] = []

    async def handle(jobs: list[Job]) -> None:
        await asyncio.sleep(0.5)  # more than three leases
        attempts.append(jobs[0].attempts)

    async with at_work(Worker(lanes, handle, Shift(lease_ms=150))):
        await wait_until(lambda: len(attempts) == 3, "all ran")
    assert attempts == [1, 1, 1]
    assert (await lanes.stats()).leased == 0


@pytest.mark.case("L23")
async def test_a_worker_outlives_a_server_that_is_killed(tmp_path: Path) -> None:
    """It claims again by itself once the server is back, and its liveness says so."""
    path = tmp_path / "socket"
    server = EmbeddedValkey(tmp_path / "data")

    def restart() -> None:
        server.stop()
        server.start()
        path.unlink(missing_ok=True)
        path.symlink_to(server.socket_path)

    restart()
    ran: list[str] = []

    async def handle(jobs: list[Job]) -> None:
        ran.extend(job.id for job in jobs)

    notes = Notes()
    try:
        async with Redis(unix_socket_path=str(path), retry=Retry(NoBackoff(), 0)) as client:
            lanes = Lanes(client, "cm")
            worker = Worker(lanes, handle, observer=notes)
            async with at_work(worker):
                await is_parked(client)
                last_ms = worker.last_claim_monotonic_ms
                assert server.pid is not None
                os.kill(server.pid, signal.SIGKILL)
                await wait_until(lambda: notes.failures, "the outage is noticed")
                restart()
                with contextlib.suppress(RedisConnectionError):
                    await client.ping()  # its own link is old
                admitted = await fill(lanes, A, 3)
                await wait_until(lambda: ran == admitted, "it works again")
                assert last_ms is not None
                assert worker.last_claim_monotonic_ms is not None
                assert worker.last_claim_monotonic_ms > last_ms
        assert notes.recoveries >= 1
    finally:
        server.stop()
