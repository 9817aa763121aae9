"""Carries scripts to the server: one round trip a call, and never twice the same call.

The client may have been made with retries; redis-py would then send a script again after a lost or late reply,
though the first one may have run. So a script goes over a connection of the client's pool directly: connecting is
retried as the client was told, a script that was sent is not. What a server says it did not run (it does not know the
script, it is no primary, the slot is elsewhere) is sent again for a while.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, ReadOnlyError, ResponseError

from engine.lanes.connections import REFUSALS, Client, connections
from engine.lanes.errors import NotReplicated
from engine.lanes.scripts import Script, script

# The server runs one script at a time; more connections would only run a client's pool dry.
CONNECTIONS: Final = 32
# Calls on their way at once: a server at work on more than it has buffers for keeps its client from writing, until that
# takes the client too long.
WINDOW: Final = 32
BLOCK_MS: Final = 4_000
GRACE_MS: Final = 3_000
TRIES: Final = 8
TRY_AGAIN_FIRST_S: Final = 0.01
TRY_AGAIN_MOST_S: Final = 0.5

Words = Sequence[str | bytes | int]
_T = TypeVar("_T")


class Transport:
    """Runs scripts of one queue on the caller's client.

    Args:
        redis: a client that does not decode replies; it stays the caller's to close.
        base: the key that is declared to every script, so that a cluster routes it to the queue's slot.
        replicas: how many replicas must have what `run_many` wrote, where it is asked for that.
        replicas_ms: how long they may take.
        counters: a hash of the queue that such a call may write to.

    Raises:
        BadArgument: the client is none, or decodes replies.
    """

    def __init__(
        self, redis: Client, base: str, *, replicas: int = 0, replicas_ms: int = 1_000, counters: str = ""
    ) -> None:
        self._connections = connections(redis, base)
        self._base = base
        self._replicas = replicas
        self._replicas_ms = replicas_ms
        self._counters = counters
        self._turns = asyncio.Semaphore(CONNECTIONS)

    async def run(self, verb: str, *args: str | bytes | int) -> Any:
        """Run the script of ``verb`` once and return its reply.

        An error after sending leaves open whether it ran: every verb is safe to call again (an admission then
        answers duplicate, a settlement stale, a claim's jobs come back when their leases lapse).
        """
        wanted = script(verb)
        return await self._on_a_connection(lambda connection: self._evaluate(connection, wanted, args))

    async def run_many(self, verb: str, calls: Sequence[Words], *, replicated: bool = False) -> list[Any]:
        """Run the script of ``verb`` once for each of ``calls``, in order, a round trip for each few dozen.

        Answers a reply for each call, or the error that kept it from being run or answered.

        Args:
            verb: the script.
            calls: what to call it with.
            replicated: answer only once the replicas have what was written, which takes a round trip more.
        """
        if not calls:
            return []
        replicated = replicated and self._replicas > 0
        if len(calls) == 1 and not replicated:
            return [await _or_error(self.run(verb, *calls[0]))]
        wanted = script(verb)

        async def send(connection: AbstractConnection) -> list[Any]:
            replies = await self._pipeline(connection, wanted, calls)
            return await self._replicated(connection, replies) if replicated else replies

        replies = await self._on_a_connection(send)
        for number, reply in enumerate(replies):
            if isinstance(reply, REFUSALS):
                replies[number] = await _or_error(self._again(wanted, calls[number], replicated=replicated))
        return replies

    async def _again(self, wanted: Script, args: Words, *, replicated: bool) -> Any:
        async def send(connection: AbstractConnection) -> Any:
            reply = await self._evaluate(connection, wanted, args)
            return (await self._replicated(connection, [reply]))[0] if replicated else reply

        return await self._on_a_connection(send)

    async def read(self, *command: str | bytes | int) -> Any:
        """Run one command that changes nothing."""
        return await self._on_a_connection(lambda connection: _ask(connection, *command))

    async def _on_a_connection(self, work: Callable[[AbstractConnection], Awaitable[_T]]) -> _T:
        """Do ``work`` on a connection; again after a while, where the server says that it did nothing."""
        tries = 0
        while True:
            try:
                async with self._turns, self._connection() as connection:
                    return await work(connection)
            except (*REFUSALS, RedisConnectionError) as error:
                refusal = _refusal(error)
                tries += 1
                if refusal is None or tries == TRIES:
                    raise
            await self._connections.refused(refusal)
            await asyncio.sleep(min(TRY_AGAIN_FIRST_S * 2**tries, TRY_AGAIN_MOST_S))

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[AbstractConnection]:
        """Lend a connection; see `_heed` for what redis-py does with a cancellation meanwhile."""
        cancels = _cancels()
        connection = await self._connections.take()
        try:
            _heed(cancels)
            yield connection
        finally:
            await self._connections.give(connection)
        _heed(cancels)

    async def _evaluate(self, connection: AbstractConnection, wanted: Script, args: Words) -> Any:
        try:
            return await _ask(connection, "EVALSHA", wanted.sha, 1, self._base, *args)
        except NoScriptError:
            # A restarted or flushed server has not run anything yet; EVAL also fills its cache.
            return await _ask(connection, "EVAL", wanted.text, 1, self._base, *args)

    async def _pipeline(self, connection: AbstractConnection, wanted: Script, calls: Sequence[Words]) -> list[Any]:
        replies: list[Any] = []
        for first in range(0, len(calls), WINDOW):
            window = calls[first : first + WINDOW]
            packed = [packed_command("EVALSHA", wanted.sha, 1, self._base, *args) for args in window]
            await _sent(connection.send_packed_command(packed), connection)
            for _ in window:
                replies.append(await _or_error(connection.read_response()))
                if isinstance(replies[-1], RedisConnectionError) and not connection.is_connected:
                    return replies + [replies[-1]] * (len(calls) - len(replies))
        for number, reply in enumerate(replies):
            if isinstance(reply, NoScriptError):
                replies[number] = await _or_error(self._evaluate(connection, wanted, calls[number]))
        return replies

    async def _replicated(self, connection: AbstractConnection, replies: list[Any]) -> list[Any]:
        """The same once enough replicas have what this connection wrote; else an error for each that was answered.

        The server counts the replicas that have what this very connection wrote last. A duplicate's script writes
        nothing, while what it is a duplicate of may be on no replica yet: so something is written here in any case.
        """
        if not connection.is_connected:
            return replies
        await _ask(connection, "HINCRBY", self._counters, "granted", 0)
        have = await _ask(connection, "WAIT", self._replicas, self._replicas_ms)
        if have >= self._replicas:
            return replies
        error = NotReplicated(have, self._replicas, self._replicas_ms)
        return [reply if isinstance(reply, Exception) else error for reply in replies]

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
        try:
            async with self._connection() as connection:
                blpop = packed_command("BLPOP", key, f"{block_ms / 1000:.3f}")
                await _sent(connection.send_packed_command([blpop]), connection)
                async with asyncio.timeout((block_ms + GRACE_MS) / 1000):
                    return await connection.read_response(timeout=math.inf) is not None
        except (*REFUSALS, RedisConnectionError, TimeoutError):
            # The link broke, fell silent or ends at the wrong server, while nothing but a token could get lost:
            # whoever waits should claim, and learns more.
            return True
        except ResponseError as error:
            if str(error).startswith("UNBLOCKED"):
                return True
            raise


def packed_command(*words: str | bytes | int) -> bytes:
    """Write a command as the server reads it; redis-py's own way takes several times as long for many words."""
    chunks = [b"*%d\r\n" % len(words)]
    for word in words:
        raw = word if isinstance(word, bytes) else word.encode() if isinstance(word, str) else b"%d" % word
        chunks.append(b"$%d\r\n%b\r\n" % (len(raw), raw))
    return b"".join(chunks)


async def _ask(connection: AbstractConnection, *command: str | bytes | int) -> Any:
    await _sent(connection.send_packed_command([packed_command(*command)]), connection)
    return await connection.read_response()


async def _sent(sending: Awaitable[None], connection: AbstractConnection) -> None:
    # A forgotten cancellation is raised over a closed connection, so that its next user does not read this reply.
    cancels = _cancels()
    try:
        await sending
    except RuntimeError as error:
        # uvloop's word for a link that broke unnoticed; redis-py passes it on, as it is none of asyncio's own.
        raise RedisConnectionError(f"the connection is closed ({error})") from error
    if _cancels() > cancels:
        await connection.disconnect(nowait=True)
        _heed(cancels)


def _heed(cancels: int) -> None:
    """Raise the cancellation that came since there were so many, if it was forgotten.

    redis-py sends through asyncio.wait_for, and Python 3.11's forgets a cancellation that comes as the sending ends.
    """
    if _cancels() > cancels:
        raise asyncio.CancelledError


def _cancels() -> int:
    """How often the current task has been asked to stop; a clean-up after a cancellation may go on using lanes."""
    task = asyncio.current_task()
    return task.cancelling() if task is not None else 0


async def _or_error(work: Awaitable[Any]) -> Any:
    try:
        return await work
    except Exception as error:  # noqa: BLE001 - handed on beside the answers of others
        return error


def _refusal(error: Exception) -> Exception | None:
    """What the server refused, or None if it may have run something; Sentinel's connections wrap one kind."""
    if isinstance(error, REFUSALS):
        return error
    return error.__context__ if isinstance(error.__context__, ReadOnlyError) else None
