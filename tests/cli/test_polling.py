"""One process polls at a time, and nobody waits long for a dead one."""

from __future__ import annotations

import asyncio

from redis.asyncio import Redis

from bot.polling import PollingLease
from tests.waiting import wait_until


async def test_one_holds_it_and_the_next_has_it_when_it_is_given_back(redis: Redis) -> None:
    one, other = PollingLease(redis), PollingLease(redis)
    await asyncio.wait_for(one.acquire(), 10)
    waiting = asyncio.create_task(other.acquire())
    await asyncio.wait({waiting}, timeout=0.2)
    assert (one.held(), other.held(), waiting.done()) == (True, False, False)
    await one.release()
    await asyncio.wait_for(waiting, 10)
    assert (one.held(), other.held()) == (False, True)
    await other.release()


async def test_a_holder_that_died_holds_nothing_up_for_longer_than_its_lease(redis: Redis) -> None:
    dead = PollingLease(redis, ttl_ms=300)
    await dead.acquire()
    renewal = dead._lease._renewal
    assert renewal is not None
    renewal.cancel()
    await asyncio.wait_for(PollingLease(redis, ttl_ms=300).acquire(), 10)
    await wait_until(lambda: not dead.held(), "the dead one's right lapses")


async def test_it_can_be_had_again_by_whoever_gave_it_back(redis: Redis) -> None:
    lease = PollingLease(redis)
    for _ in range(3):
        await asyncio.wait_for(lease.acquire(), 10)
        assert lease.held()
        await lease.release()
        await lease.release()
        assert not lease.held()


async def test_a_redis_that_is_away_is_waited_for() -> None:
    async with Redis.from_url("redis://127.0.0.1:1") as nobody:
        waiting = asyncio.create_task(PollingLease(nobody).acquire())
        await asyncio.wait({waiting}, timeout=0.5)
        assert not waiting.done()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
