"""Lanes on a real server, with the oracle looking on.

* ``redis``: the client; after every script it runs, the invariants must hold
* ``lanes``: the queue ``cm`` over it
* ``oracle``: what the server holds, by its own look
* ``deaf``: lanes that reach no server

After each test they are asked for once more.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from bot.embedded import EmbeddedValkey
from engine.lanes import Lanes
from tests.lanes.oracle import Oracle
from tests.lanes.watching import WatchedRedis


@pytest.fixture
async def oracle(redis_url: str) -> AsyncIterator[Oracle]:
    oracle = Oracle(redis_url)
    yield oracle
    await oracle.close()


@pytest.fixture
async def redis(valkey: EmbeddedValkey, oracle: Oracle) -> AsyncIterator[WatchedRedis]:
    async with WatchedRedis(oracle, valkey.socket_path) as client:
        yield client


@pytest.fixture
def lanes(redis: WatchedRedis) -> Lanes:
    return Lanes(redis, "cm")


@pytest.fixture
def deaf() -> Lanes:
    """Lanes whose Redis is not there: whatever is sent raises ConnectionError."""
    return Lanes(Redis(unix_socket_path="/nonexistent"), "cm")


@pytest.fixture(autouse=True)
async def _invariants_hold_at_the_end(oracle: Oracle) -> AsyncIterator[None]:
    yield
    await oracle.check()
