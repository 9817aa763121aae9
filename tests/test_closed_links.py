"""A link that broke unnoticed is the outage that it is, also on uvloop, which has a word of its own for it.

It was taken for a bug of the notice that was being said, and the notice was dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvloop
from redis.exceptions import ConnectionError as RedisConnectionError

from bot.redis_server import open_redis
from engine.lanes.transport import _ask
from engine.store.errors import StoreUnavailable
from engine.store.faults import told_by_the_store

Ask = Callable[[Any], Awaitable[object]]
ASKS: list[Ask] = [lambda it: it.send_command("PING"), lambda it: _ask(it, "PING")]
UVLOOP_SAYS = "the handler is closed"


@pytest.mark.parametrize(
    "ask", [lambda it: it.send_command("PING"), lambda it: _ask(it, "PING")], ids=["client", "lanes"]
)
def test_a_redis_link_that_closed_unnoticed_is_a_lost_connection(redis_url: str, ask: Ask) -> None:
    async def use_it_closed() -> None:
        async with open_redis(redis_url) as client:
            pool: Any = client.connection_pool
            connection = await pool.get_connection()
            connection._writer.transport.abort()
            await asyncio.sleep(0)
            with pytest.raises(RedisConnectionError, match=UVLOOP_SAYS):
                await ask(connection)
            await pool.release(connection)
            assert await client.ping()

    uvloop.run(use_it_closed())


def test_a_database_link_that_closed_unnoticed_is_a_store_that_is_away() -> None:
    with pytest.raises(StoreUnavailable), told_by_the_store("somewhere"):
        raise RuntimeError(f"unable to perform operation on <TCPTransport closed=True>; {UVLOOP_SAYS}")


def test_a_fault_of_our_own_is_not_taken_for_an_outage() -> None:
    with pytest.raises(RuntimeError, match="ours"), told_by_the_store("somewhere"):
        raise RuntimeError("ours")
