"""Leases and node numbers: one holder at a time, and no id twice whatever happens to the holder."""

from __future__ import annotations

import asyncio
import time

import pytest
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from engine.ids import JOB, NodeLost, minted_ms
from engine.workers.lease import RedisLease
from engine.workers.node import NodeLease
from tests.waiting import wait_until

TTL_MS = 1_000
"""Short, and longer than a busy machine keeps a process waiting."""


async def test_one_process_at_a_time_holds_a_lease(redis: Redis) -> None:
    mine, theirs = RedisLease(redis, "poll"), RedisLease(redis, "poll")
    assert await mine.acquire()
    assert not await theirs.acquire()
    assert (mine.held(), theirs.held()) == (True, False)
    await mine.release()
    assert not mine.held()
    assert await theirs.acquire()
    await theirs.release()


async def test_a_lease_outlives_its_ttl_while_it_is_renewed(redis: Redis) -> None:
    lease = RedisLease(redis, "poll", TTL_MS)
    assert await lease.acquire()
    began = time.monotonic()
    await wait_until(lambda: time.monotonic() - began > 2 * TTL_MS / 1_000, "twice the lease's length has passed")
    assert lease.held()
    assert not await RedisLease(redis, "poll", TTL_MS).acquire()
    await lease.release()


async def test_a_holder_knows_that_its_lease_was_taken_away(redis: Redis) -> None:
    lease = RedisLease(redis, "poll", TTL_MS)
    assert await lease.acquire()
    await redis.flushall()
    await wait_until(lambda: not lease.held(), "the holder noticed")
    await lease.release()


async def test_whoever_is_cancelled_while_acquiring_takes_nothing(redis: Redis) -> None:
    """Whatever moment it is: before the request leaves, on its way, or once it was granted and nobody heard."""
    for moment in range(60):
        lease = RedisLease(redis, f"poll {moment}")
        acquiring = asyncio.create_task(lease.acquire())
        for _ in range(moment % 20):
            await asyncio.sleep(0)
        acquiring.cancel()
        await asyncio.gather(acquiring, return_exceptions=True)
        await lease.release()
    assert await redis.keys("codemojex:lease:*") == []


async def test_releasing_a_lapsed_lease_leaves_the_next_holder_alone(redis: Redis) -> None:
    first, second = RedisLease(redis, "poll"), RedisLease(redis, "poll")
    assert await first.acquire()
    await redis.flushall()
    assert await second.acquire()
    await first.release()
    assert not await RedisLease(redis, "poll").acquire()
    await second.release()


async def test_processes_get_different_nodes_and_give_them_back(redis: Redis) -> None:
    async with NodeLease(redis) as one, NodeLease(redis) as two:
        ids = [lease.mint(JOB) for lease in (one, two) for _ in range(1_000)]
        assert len(set(ids)) == 2_000
    assert await redis.keys("codemojex:lease:*") == []


async def test_minting_without_a_node_is_refused(redis: Redis) -> None:
    lease = NodeLease(redis)
    with pytest.raises(NodeLost):
        lease.mint(JOB)


async def test_a_process_that_lost_its_node_takes_another_and_repeats_nothing(redis: Redis) -> None:
    async with NodeLease(redis, TTL_MS) as node:
        before = node.mint(JOB)
        await redis.flushall()

        def mint() -> str | None:
            try:
                return node.mint(JOB)
            except NodeLost:
                return None

        await wait_until(lambda: mint() is None or None, "the node was lost", poll_ms=1)
        after = await wait_until(mint, "another node was taken")
        assert after != before


async def test_the_next_holder_of_a_node_starts_after_the_last_id_of_the_former(redis: Redis) -> None:
    async with NodeLease(redis) as node:
        node.mint(JOB)
    assert await redis.hlen("codemojex:node:floors") == 1
    ahead_ms = time.time_ns() // 1_000_000 + 3_600_000
    await redis.hset("codemojex:node:floors", mapping={str(n): str(ahead_ms) for n in range(1024)})
    async with NodeLease(redis) as node:
        assert minted_ms(node.mint(JOB)) > ahead_ms


async def test_a_node_whose_past_can_not_be_read_is_given_back(redis: Redis) -> None:
    await redis.set("codemojex:node:floors", "not what it should be")
    with pytest.raises(ResponseError):
        async with NodeLease(redis):
            pass
    assert await redis.keys("codemojex:lease:*") == []


async def test_a_cancelled_process_gives_its_node_back(redis: Redis) -> None:
    entered = asyncio.Event()

    async def hold() -> None:
        async with NodeLease(redis):
            entered.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(hold())
    await entered.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert await redis.keys("codemojex:lease:*") == []
