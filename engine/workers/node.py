"""A node number for this process's ids: leased in Redis, so that no two live processes mint under the same one.

::

    RuntimeError
    └── NoNodeLeft     all 1024 numbers are leased
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from types import TracebackType
from typing import Final, Self

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from engine.ids import NODES, Minter, NodeLost
from engine.workers import events
from engine.workers.lease import RedisLease
from engine.workers.stopping import pause_unless

_FLOORS: Final = "codemojex:node:floors"
_LOOK_EVERY_S: Final = 1.0

_log = structlog.get_logger(__name__)


class NoNodeLeft(RuntimeError):  # noqa: N818 - reads as the event it is
    """Every node number is leased: stop some processes, or wait until leases of dead ones lapse (30 s)."""


class NodeLease:
    """Mints under a leased node number; takes another one where its lease is lost.

    While it holds none (Redis is away for longer than a lease), minting raises ``NodeLost``. A number's next holder
    starts after the last millisecond that was recorded under it, so a clock that was set back repeats nothing.
    """

    def __init__(self, redis: Redis, ttl_ms: int = 30_000) -> None:
        self._redis = redis
        self._ttl_ms = ttl_ms
        self._lease: RedisLease | None = None
        self._minter: Minter | None = None
        self._watch: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()

    async def __aenter__(self) -> Self:
        """Lease a number.

        Raises:
            NoNodeLeft: all are taken.
        """
        await self._take()
        self._watch = asyncio.create_task(self._keep(), name="node lease")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Record how far this process minted, and give the number back."""
        if self._watch is not None:
            self._stop.set()
            await self._watch
        with contextlib.suppress(RedisError, OSError):
            await self._record()
        if self._lease is not None:
            await self._lease.release()

    def mint(self, kind: str) -> str:
        """Mint an id of ``kind``.

        Raises:
            NodeLost: no number is held now.
        """
        if self._minter is None:
            raise NodeLost("no node number is leased; enter the NodeLease first")
        return self._minter.mint(kind)

    async def _take(self) -> None:
        first = secrets.randbelow(NODES)
        for step in range(NODES):
            node = (first + step) % NODES
            lease = RedisLease(self._redis, f"node:{node}", self._ttl_ms)
            if await lease.acquire():
                try:
                    floor = await self._redis.hget(_FLOORS, str(node))
                except BaseException:
                    await lease.release()  # else it would be renewed for nobody, and another number at each try
                    raise
                self._minter = Minter(node, floor_ms=int(floor or 0), held=lease.held)
                self._lease = lease
                _log.debug(events.NODE_LEASED, node=node)
                return
        raise NoNodeLeft(f"all {NODES} node numbers are leased; stop some processes, or wait 30 s for dead ones")

    async def _keep(self) -> None:
        recorded_ms = 0
        while not await pause_unless(self._stop, _LOOK_EVERY_S):
            try:
                if self._lease is None or not self._lease.held():
                    await self._take()
                now_ms = time.monotonic_ns() // 1_000_000
                if now_ms - recorded_ms >= self._ttl_ms // 3:
                    await self._record()
                    recorded_ms = now_ms
            except (RedisError, OSError, NoNodeLeft) as error:
                _log.warning(events.LEASE_LOST, lease="node", error=type(error).__name__)

    async def _record(self) -> None:
        if self._minter is not None and self._lease is not None and self._lease.held():
            await self._redis.hset(_FLOORS, str(self._minter.node), str(self._minter.last_ms))
