"""A worker stops within its grace, and gives back what it did not run."""

from __future__ import annotations

import asyncio
import time

import pytest
from redis.asyncio import Redis

from engine.lanes import Job, Lanes, Shift, Worker
from tests.lanes.naming import A
from tests.lanes.oracle import Oracle
from tests.lanes.steps import fill
from tests.lanes.working import Notes, at_work, is_parked


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
