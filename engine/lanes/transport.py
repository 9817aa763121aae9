"""Carries scripts to the server: one round trip a call, and never the same call twice.

The client may have been made with retries; redis-py would then send a script again after a lost or late reply,
though the first one may have run. So a script goes over a connection of the client's pool directly: connecting is
retried as the client was told, a script that was sent is not.
"""

from __future__ import annotations

import asyncio
import math
from typing import Any, Final

from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, ResponseError

from engine.lanes.errors import BadArgument
from engine.lanes.scripts import Script, script

# The server runs one script at a time; more connections would only run a client's pool dry.
CONNECTIONS: Final = 32
BLOCK_MS: Final = 4_000
GRACE_MS: Final = 3_000


class Transport:
    """Runs scripts of one queue on the caller's client.

    Args:
        redis: a client that does not decode replies; it stays the caller's to close.
        base: the key that is declared to every script, so that a cluster routes it to the queue's slot.

    Raises:
        BadArgument: the client decodes replies: payloads are bytes.
    """

    def __init__(self, redis: Redis, base: str) -> None:
        # redis-py leaves its pools' methods untyped.
        pool: Any = redis.connection_pool
        if pool.get_encoder().decode_responses:
            raise BadArgument("redis", redis, "a client made with decode_responses=False")
        self._pool = pool
        self._base = base
        self._turns = asyncio.Semaphore(CONNECTIONS)

    async def run(self, verb: str, *args: str | bytes | int) -> Any:
        """Run the script of ``verb`` once and return its reply.

        An error after sending leaves open whether it ran: every verb is safe to call again (an admission then
        answers duplicate, a settlement stale, a claim's jobs come back when their leases lapse).
        """
        async with self._turns:
            return await self._run(script(verb), args)

    async def _run(self, wanted: Script, args: tuple[str | bytes | int, ...]) -> Any:
        cancels = _cancels()
        connection = await self._pool.get_connection()
        try:
            try:
                return await _ask(connection, cancels, "EVALSHA", wanted.sha, 1, self._base, *args)
            except NoScriptError:
                # A restarted or flushed server has not run anything yet; EVAL also fills its cache.
                return await _ask(connection, cancels, "EVAL", wanted.text, 1, self._base, *args)
        finally:
            await self._pool.release(connection)

    async def read(self, *command: str | bytes | int) -> Any:
        """Run one command that changes nothing."""
        async with self._turns:
            cancels = _cancels()
            connection = await self._pool.get_connection()
            try:
                return await _ask(connection, cancels, *command)
            finally:
                await self._pool.release(connection)

    async def park(self, verb: str, key: str, timeout_ms: int) -> None:
        """Wait until a token arrives in the list ``key``, the time that the script of ``verb`` names, or the timeout.

        Holds one connection of its own. Blocks in spans of at most BLOCK_MS, whatever the client's socket timeout,
        and gives a silent server GRACE_MS more. A connection is never returned with a reply still to come.

        Raises:
            redis.exceptions.TimeoutError: the server fell silent.
        """
        clock = asyncio.get_running_loop().time
        until = clock() + timeout_ms / 1000
        while (left_ms := round((until - clock()) * 1000)) > 0:
            _, park_ms = await self.run(verb, left_ms)
            if park_ms <= 0:
                return
            woken = await self._block(key, min(park_ms, BLOCK_MS))
            if woken or park_ms <= BLOCK_MS:
                return

    async def _block(self, key: str, block_ms: int) -> bool:
        cancels = _cancels()
        connection = await self._pool.get_connection()
        try:
            await _send(connection, cancels, "BLPOP", key, f"{block_ms / 1000:.3f}")
            async with asyncio.timeout((block_ms + GRACE_MS) / 1000):
                return await connection.read_response(timeout=math.inf) is not None
        except (RedisConnectionError, TimeoutError):
            # The link broke or fell silent while nothing but a token could get lost: whoever waits should claim.
            return True
        except ResponseError as error:
            if str(error).startswith("UNBLOCKED"):
                return True
            raise
        finally:
            await self._pool.release(connection)


async def _ask(connection: AbstractConnection, cancels: int, *command: str | bytes | int) -> Any:
    await _send(connection, cancels, *command)
    return await connection.read_response()


async def _send(connection: AbstractConnection, cancels: int, *command: str | bytes | int) -> None:
    # redis-py sends through asyncio.wait_for, and Python 3.11's forgets a cancellation that comes as the sending ends:
    # it is raised here, over a closed connection, so that its next user does not read this reply.
    await connection.send_command(*command)
    if _cancels() > cancels:
        await connection.disconnect(nowait=True)
        raise asyncio.CancelledError


def _cancels() -> int:
    """How often the current task has been asked to stop; a clean-up after a cancellation may go on using lanes."""
    task = asyncio.current_task()
    return task.cancelling() if task is not None else 0
