"""keep: a lease is renewed while its handler runs, and the handler is stopped when the lease is lost."""

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

from bot.embedded import EmbeddedValkey
from engine.lanes import BadArgument, Job, Lanes, LeaseLost, Verdict
from tests.lanes.naming import A, B
from tests.lanes.steps import fill, past
from tests.waiting import wait_until

LEASE_MS = 150


async def test_a_kept_lease_outlives_its_deadline(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 2)
    jobs = await lanes.claim(2, LEASE_MS)
    async with lanes.keep(jobs, LEASE_MS):
        await past(redis, jobs[0].lease_until_ms + 2 * LEASE_MS)
        assert await lanes.reap() == 0
    assert await lanes.complete(jobs) == [Verdict.ok] * 2


async def test_a_lease_is_kept_no_longer_than_its_block(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 1)
    (job,) = await lanes.claim(1, LEASE_MS)
    async with lanes.keep([job], LEASE_MS):
        pass
    await past(redis, job.lease_until_ms)
    assert await lanes.reap() == 1


async def test_a_handler_whose_lease_is_lost_is_stopped(lanes: Lanes) -> None:
    await fill(lanes, A, 1)
    jobs = await lanes.claim(1, LEASE_MS)
    kept, stopped = lanes.keep(jobs, LEASE_MS), []

    async def work() -> None:
        async with kept:
            await lanes.forget(A)
            try:
                await asyncio.wait_for(asyncio.Event().wait(), 5)
            except asyncio.CancelledError:
                stopped.append(True)
                raise

    with pytest.raises(LeaseLost) as lost:
        await work()
    assert stopped
    assert lost.value.jobs == [jobs[0].id]
    assert (kept.left, [job.id for job in kept.lost]) == ([], [jobs[0].id])
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_loss_that_comes_as_the_block_ends_is_not_left_behind(lanes: Lanes) -> None:
    """The handler swallows the cancellation: whatever comes next is not hit by it."""
    await fill(lanes, A, 1)
    jobs = await lanes.claim(1, LEASE_MS)
    with contextlib.suppress(LeaseLost):
        async with lanes.keep(jobs, LEASE_MS):
            await lanes.forget(A)
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait_for(asyncio.Event().wait(), 5)
    await asyncio.sleep(0)


async def test_one_lost_lease_of_many_stops_nobody(lanes: Lanes) -> None:
    await fill(lanes, A, 1)
    await fill(lanes, B, 1)
    jobs = await lanes.claim(2, LEASE_MS)
    async with lanes.keep(jobs, LEASE_MS) as kept:
        await lanes.forget(A)
        await wait_until(lambda: kept.lost, "the loss is noticed")
        assert [job.group for job in kept.left] == [B]
    assert await lanes.complete(kept.left) == [Verdict.ok]


@pytest.mark.parametrize("how", ["complete", "exchange", "release", "retry"])
async def test_a_job_settled_within_the_block_is_not_missed(lanes: Lanes, redis: Redis, how: str) -> None:
    await fill(lanes, A, 1)
    (job,) = await lanes.claim(1, LEASE_MS)
    async with lanes.keep([job], LEASE_MS) as kept:
        if how == "complete":
            await lanes.complete([job])
        elif how == "exchange":
            await lanes.exchange([job])
        elif how == "release":
            await lanes.release([job])
        else:
            await lanes.retry(job, "broken")
        assert kept.left == []
        await past(redis, job.lease_until_ms + LEASE_MS)
    assert kept.lost == []


async def test_a_cancellation_from_outside_stays_one(lanes: Lanes) -> None:
    await fill(lanes, A, 1)
    jobs = await lanes.claim(1)
    entered = asyncio.Event()

    async def work() -> None:
        async with lanes.keep(jobs):
            entered.set()
            await asyncio.Event().wait()

    working = asyncio.create_task(work())
    await entered.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working


async def test_an_error_of_the_handler_comes_through(lanes: Lanes) -> None:
    await fill(lanes, A, 1)
    with pytest.raises(ValueError, match="mine"):
        async with lanes.keep(await lanes.claim()):
            raise ValueError("mine")


async def test_a_server_that_falls_silent_loses_the_lease_by_its_deadline(tmp_path: Path) -> None:
    """Others may have the job once the server's deadline is over, whether or not this host can hear of it."""
    server = EmbeddedValkey(tmp_path / "data", options={"appendonly": "no"}).start()
    try:
        async with Redis.from_url(server.url, socket_timeout=0.05, retry=Retry(NoBackoff(), 0)) as client:
            lanes = Lanes(client, "cm")
            await fill(lanes, A, 1)
            jobs = await lanes.claim(1, 400)
            clock = asyncio.get_running_loop().time
            began_s = clock()
            assert server.pid is not None
            os.kill(server.pid, signal.SIGSTOP)
            with pytest.raises(LeaseLost):
                async with lanes.keep(jobs, 400):
                    await asyncio.wait_for(asyncio.Event().wait(), 5)
            assert 0.3 < clock() - began_s < 0.8
            os.kill(server.pid, signal.SIGCONT)
    finally:
        server.stop()


async def test_renewals_outlive_a_short_outage(tmp_path: Path) -> None:
    server = EmbeddedValkey(tmp_path / "data", options={"appendonly": "no"}).start()
    try:
        async with Redis.from_url(server.url, socket_timeout=0.05, retry=Retry(NoBackoff(), 0)) as client:
            lanes = Lanes(client, "cm")
            await fill(lanes, A, 1)
            (job,) = await lanes.claim(1, 900)
            assert server.pid is not None
            async with lanes.keep([job], 900):
                os.kill(server.pid, signal.SIGSTOP)
                await asyncio.sleep(0.4)  # the first renewals find nobody
                os.kill(server.pid, signal.SIGCONT)
                await past(client, job.lease_until_ms + 100)
                assert await lanes.reap() == 0
            assert await lanes.complete([job]) == [Verdict.ok]
    finally:
        server.stop()


async def test_many_blocks_share_their_renewals(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 50)
    jobs = await lanes.claim(50, 300)
    over = asyncio.Event()

    async def work(job: Job) -> None:
        async with lanes.keep([job], 300):
            await over.wait()

    working = [asyncio.create_task(work(job)) for job in jobs]
    await asyncio.sleep(0)
    await redis.config_resetstat()
    await past(redis, jobs[0].lease_until_ms + 300)
    scripts = (await redis.info("commandstats"))["cmdstat_evalsha"]["calls"]
    over.set()
    await asyncio.gather(*working)
    assert scripts <= 20
    assert await lanes.complete(jobs) == [Verdict.ok] * 50


async def test_nothing_is_left_of_what_is_kept_no_more(lanes: Lanes) -> None:
    await fill(lanes, A, 3)
    jobs = await lanes.claim(3)
    async with lanes.keep(jobs):
        assert len(lanes._keeper._kept) == 3
        await lanes.complete(jobs[:1])
        assert len(lanes._keeper._kept) == 2
    assert lanes._keeper._kept == {}
    assert lanes._keeper._timer is None


async def test_bad_arguments_are_refused_by_name(lanes: Lanes) -> None:
    with pytest.raises(BadArgument, match="lease_ms"):
        lanes.keep([], 0)
    with pytest.raises(BadArgument, match="jobs"):
        lanes.keep(["x"])  # type: ignore[list-item]  # what is under test
