"""A Redis client that lets the oracle look after every single script call, however it was sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from redis.asyncio import ConnectionPool, Redis, UnixDomainSocketConnection
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from tests.lanes.oracle import Oracle


class _WatchedConnection(UnixDomainSocketConnection):
    ran_script = False

    async def send_packed_command(
        self,
        command: bytes | str | Iterable[bytes],
        check_health: bool = True,  # noqa: FBT001, FBT002 - redis-py's signature
    ) -> None:
        chunks = (
            [command.encode()] if isinstance(command, str) else [command] if isinstance(command, bytes) else command
        )
        chunks = list(chunks)
        self.ran_script |= any(b"EVAL" in chunk for chunk in chunks)
        await super().send_packed_command(chunks, check_health)


class _WatchedPool(ConnectionPool):
    def __init__(self, oracle: Oracle, path: Path) -> None:
        super().__init__(connection_class=_WatchedConnection, path=str(path), retry=Retry(NoBackoff(), 0))
        self._oracle = oracle
        self.watching = True

    async def release(self, connection: AbstractConnection) -> None:
        watched = cast("_WatchedConnection", connection)
        look, watched.ran_script = watched.ran_script and self.watching, False
        await super().release(connection)
        if look:
            await self._oracle.check()


class WatchedRedis(Redis):
    """The invariants are asked for after each script, before its caller goes on."""

    def __init__(self, oracle: Oracle, path: Path) -> None:
        self._pool = _WatchedPool(oracle, path)
        super().__init__(connection_pool=self._pool)

    async def aclose(self, *args: Any, **options: Any) -> None:
        await super().aclose(*args, **options)
        await self._pool.aclose()

    @contextmanager
    def unwatched(self) -> Iterator[None]:
        """For bulk work whose every step would cost a look at all that went before."""
        before, self._pool.watching = self._pool.watching, False
        try:
            yield
        finally:
            self._pool.watching = before
