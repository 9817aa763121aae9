"""The worker: claims, runs, settles and parks; stops within its grace; outlives outages."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError

from bot.embedded import EmbeddedValkey
from engine.lanes import BadArgument, Job, Lanes, Shift, State, Verdict, Worker
from tests.lanes.counting import Counted
from tests.lanes.naming import A, B
from tests.lanes.oracle import Oracle
from tests.lanes.steps import fill
from tests.lanes.watching import WatchedRedis
from tests.waiting import wait_until


@dataclass
class Notes:
    """An observer that remembers."""

    claims: list[int] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    recoveries: int = 0
    retries: list[tuple[str, Verdict]] = field(default_factory=list)
    given_back: list[str] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)

    def claimed(self, jobs: Sequence[Job]) -> None:
        self.claims.append(len(jobs))

    def failed(self, error: Exception, failures: int) -> None:
        self.failures.append(error)
        assert failures >= 1

    def recovered(self, failures: int) -> None:
        assert failures >= 1
        self.recoveries += 1

    def retried(self, job: Job, error: Exception, verdict: Verdict) -> None:
        assert str(error)
        self.retries.append((job.id, verdict))

    def released(self, jobs: Sequence[Job]) -> None:
        self.given_back += [job.id for job in jobs]

    def lost(self, jobs: Sequence[str]) -> None:
        self.losses += jobs


@asynccontextmanager
async def at_work(worker: Worker) -> AsyncIterator[asyncio.Event]:
    """Let the worker work for the length of the block; it is stopped at the end, if it was not before."""
    stop = asyncio.Event()
    working = asyncio.create_task(worker.run(stop))
    try:
        yield stop
    finally:
        stop.set()
        await asyncio.wait_for(working, 10)


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


async def is_parked(redis: Redis) -> None:
    async def blocked() -> bool:
        return int((await redis.info("clients"))["blocked_clients"]) == 1

    await wait_until(blocked, "the worker is parked")


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


async def test_a_stop_lets_what_runs_end_and_takes_no_more(lanes: Lanes, oracle: Oracle) -> None:
    await fill(lanes, A, 9)
    ran = 0

    async def handle(_: list[Job]) -> None:
        nonlocal ran
        stop.set()
        await asyncio.sleep(0.01)
        ran += 1

    stop = asyncio.Event()
    await asyncio.wait_for(Worker(lanes, handle, Shift(batch=4, at_once=4)).run(stop), 5)
    assert ran == 4
    assert (await oracle.look()).gdepth == {A: 5}
    assert (await oracle.look()).leases == []


@pytest.mark.case("L9")
async def test_what_outlasts_the_grace_is_given_back_unburnt(lanes: Lanes) -> None:
    admitted = await fill(lanes, A, 2)
    began = asyncio.Event()

    async def handle(_: list[Job]) -> None:
        began.set()
        await asyncio.Event().wait()

    notes = Notes()
    async with at_work(Worker(lanes, handle, Shift(batch=2, grace_ms=20), notes)):
        await began.wait()
    assert sorted(notes.given_back) == admitted
    assert [(job.id, job.attempts) for job in await lanes.claim(9)] == [(job, 1) for job in admitted]


async def test_a_cancelled_worker_gives_back_what_it_had(lanes: Lanes) -> None:
    admitted = await fill(lanes, A, 2)
    began = asyncio.Event()

    async def handle(_: list[Job]) -> None:
        began.set()
        await asyncio.Event().wait()

    working = asyncio.create_task(Worker(lanes, handle).run(asyncio.Event()))
    await began.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert [(job.id, job.attempts) for job in await lanes.claim(9)] == [(job, 1) for job in admitted]


async def test_a_stop_wakes_a_parked_worker(lanes: Lanes, redis: Redis) -> None:
    async def handle(_: list[Job]) -> None:
        raise AssertionError

    began_s = time.monotonic()
    async with at_work(Worker(lanes, handle)):
        await is_parked(redis)
    assert time.monotonic() - began_s < 2


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
