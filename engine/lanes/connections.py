"""Where the lanes get connections from: one server's pool, or the node of a cluster that has the queue's slot.

`refused` is told of answers by which a server says that it ran nothing, not being (or not yet) the one to ask; it
readies the client for another try.
"""

from __future__ import annotations

import contextlib
from typing import Any, Final, Protocol

from redis.asyncio import Redis
from redis.asyncio.cluster import RedisCluster
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import (
    AskError,
    BusyLoadingError,
    ClusterDownError,
    MovedError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
    SlotNotCoveredError,
    TryAgainError,
)
from redis.exceptions import ConnectionError as RedisConnectionError

from engine.lanes.errors import BadArgument

Client = Redis | RedisCluster

REFUSALS: Final = (
    ReadOnlyError,  # a primary that became a replica
    BusyLoadingError,
    MovedError,
    AskError,  # the slot is on its way to another node: its keys are in two places, nothing may run until all are there
    TryAgainError,
    ClusterDownError,
    SlotNotCoveredError,
)


class Connections(Protocol):
    """Gives connections to the server that has the queue."""

    async def take(self) -> AbstractConnection:
        """Answer a connection that has no reply to come; it is the caller's until `give`."""
        ...

    async def give(self, connection: AbstractConnection) -> None:
        """Take a connection back."""
        ...

    async def refused(self, error: Exception) -> None:
        """Forget what led to the server that answered with ``error``, one of REFUSALS."""
        ...


def connections(redis: object, base: str) -> Connections:
    """Answer where to get connections from, for the queue whose keys begin with ``base``.

    Raises:
        BadArgument: no client of redis-py's asyncio, or one that decodes replies: payloads are bytes.
    """
    if not isinstance(redis, Redis | RedisCluster):
        raise BadArgument("redis", redis, "a client of redis.asyncio, Redis or RedisCluster")
    encoder: Any = redis.get_encoder()
    if encoder.decode_responses:
        raise BadArgument("redis", redis, "a client made with decode_responses=False")
    return _OfCluster(redis, base) if isinstance(redis, RedisCluster) else _OfServer(redis)


class _OfServer:
    """The pool of a client of one server; a Sentinel's pool finds the new primary by itself once it is disconnected."""

    def __init__(self, redis: Redis) -> None:
        # redis-py leaves its pools' methods untyped.
        self._pool: Any = redis.connection_pool

    async def take(self) -> AbstractConnection:
        connection: AbstractConnection = await self._pool.get_connection()
        return connection

    async def give(self, connection: AbstractConnection) -> None:
        await self._pool.release(connection)

    async def refused(self, error: Exception) -> None:
        if isinstance(error, ReadOnlyError):
            await self._pool.disconnect(inuse_connections=False)


class _OfCluster:
    """The node that has the slot, as far as the client knows; it learns more from each refusal."""

    def __init__(self, redis: RedisCluster, base: str) -> None:
        # redis-py leaves its cluster's methods untyped.
        self._cluster: Any = redis
        self._slot: int = redis.keyslot(base)
        self._nodes: dict[AbstractConnection, Any] = {}

    async def take(self) -> AbstractConnection:
        await self._cluster.initialize()
        node = self._cluster.nodes_manager.get_node_from_slot(self._slot)
        connection: Any = node.acquire_connection()
        self._nodes[connection] = node
        try:
            await node.disconnect_if_needed(connection)
            if connection.is_connected and await connection.can_read():
                await connection.disconnect()  # closed by the server while it lay idle
            await connection.connect()
        except BaseException as error:
            await self.give(connection)
            if isinstance(error, RedisConnectionError):
                await self._relearn()
            raise
        taken: AbstractConnection = connection
        return taken

    async def give(self, connection: AbstractConnection) -> None:
        self._nodes.pop(connection).release(connection)

    async def refused(self, error: Exception) -> None:
        if isinstance(error, MovedError):
            await self._cluster.nodes_manager.move_slot(error)
        else:
            await self._relearn()

    async def _relearn(self) -> None:
        """Ask the nodes for the cluster's layout; where none answers, the next try asks again."""
        with contextlib.suppress(RedisError, RedisClusterException):
            await self._cluster.nodes_manager.initialize()
