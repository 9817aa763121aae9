"""pause_all and resume_all: no job of the queue is claimed, while its housekeeping goes on."""

from __future__ import annotations

import asyncio

import pytest
from redis.asyncio import Redis

from engine.lanes import Lanes, Verdict
from tests.lanes.naming import A, B, new_job
from tests.lanes.oracle import Oracle
from tests.lanes.parking import LONG_MS, SOON_S, parked, took_s
from tests.lanes.steps import claimed_ids, fill, lapse, past, server_ms
from tests.waiting import wait_until


@pytest.mark.parametrize("verb", ["claim", "claim_group"])
async def test_nothing_is_claimed_until_the_queue_is_resumed(lanes: Lanes, verb: str) -> None:
    admitted = await fill(lanes, A, 2)
    await lanes.pause_all()
    await lanes.pause_all()
    claim = lanes.claim if verb == "claim" else lanes.claim_group
    assert await claim(9) == []
    assert (await lanes.stats()).all_paused
    await lanes.resume_all()
    assert [job.id for job in await claim(9)] == admitted


async def test_what_is_in_flight_can_be_settled(lanes: Lanes) -> None:
    await fill(lanes, A, 1)
    jobs = await lanes.claim()
    await lanes.pause_all()
    assert await lanes.complete(jobs) == [Verdict.ok]


async def test_housekeeping_goes_on(lanes: Lanes, redis: Redis, oracle: Oracle) -> None:
    await fill(lanes, A, 1)
    leased = await lanes.claim(lease_ms=1)
    await lanes.enqueue(B, new_job(), b"", delay_ms=1)
    await lanes.pause_all()
    await lapse(redis, leased)
    await past(redis, await server_ms(redis) + 1)
    assert await lanes.claim() == []
    state = await oracle.look()
    assert (state.leases, state.schedule) == ([], [])
    assert set(state.ring) == {A, B}


async def test_a_visit_in_progress_goes_on_after_the_pause(lanes: Lanes) -> None:
    await lanes.weight(A, 2)
    await fill(lanes, A, 4)
    await fill(lanes, B, 2)
    first = [job.group for job in await lanes.claim(1)]
    await lanes.pause_all()
    assert await lanes.claim(9) == []
    assert await lanes.claim_group(9) == []
    await lanes.resume_all()
    assert first + [job.group for job in await lanes.claim(5)] == [A, A, B, A, A, B]


async def test_a_group_that_is_paused_by_itself_stays_so(lanes: Lanes) -> None:
    await fill(lanes, A, 1)
    other = await fill(lanes, B, 1)
    await lanes.pause(A)
    await lanes.pause_all()
    await lanes.resume_all()
    assert await claimed_ids(lanes, 9) == other


@pytest.mark.case("L21")
async def test_a_worker_parks_through_the_pause_and_wakes_with_its_end(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 3)
    await lanes.pause_all()
    assert 0.04 <= await took_s(lanes.wait(50)) < SOON_S  # though the ring has a group
    async with parked(lanes, redis, 2) as workers:
        await fill(lanes, A, 1)
        done, _ = await asyncio.wait(workers, timeout=0.1)
        assert not done
        await lanes.resume_all()
        await wait_until(lambda: all(worker.done() for worker in workers), "both wake", timeout_ms=int(SOON_S * 1000))


async def test_resuming_what_is_not_paused_wakes_nobody(lanes: Lanes, redis: Redis) -> None:
    async with parked(lanes, redis) as (worker,):
        await lanes.resume_all()
        done, _ = await asyncio.wait([worker], timeout=LONG_MS / 40_000)
        assert not done
