"""A named right that one process at a time holds, kept in Redis and renewed until it is given back."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from typing import Final

import structlog
from redis.asyncio import Redis
from redis.asyncio.lock import Lock
from redis.exceptions import LockError, RedisError

from engine.workers import events
from engine.workers.stopping import pause_unless

_log = structlog.get_logger(__name__)

_PREFIX: Final = "codemojex:lease:"
_GIVE_BACK_S: Final = 1.0


class RedisLease:
    """A lease on ``name``.

    ``held`` trusts this process's own monotonic clock, counted from before the request that Redis granted: so it
    turns False no later than another process can be granted the lease, also where this one was stopped meanwhile.

    Args:
        redis: where the lease lives.
        name: what is leased.
        ttl_ms: how long it outlives its holder.
    """

    def __init__(self, redis: Redis, name: str, ttl_ms: int = 30_000) -> None:
        self.name = name
        self._ttl_ms = ttl_ms
        self._lock = Lock(redis, _PREFIX + name, timeout=ttl_ms / 1_000, blocking=False, thread_local=False)
        self._held_until_ms = 0
        self._renewal: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()

    def held(self) -> bool:
        """Whether this process may still act on the lease."""
        return _monotonic_ms() < self._held_until_ms

    async def acquire(self) -> bool:
        """Try once; False where another process holds it. Cancelling it takes nothing."""
        asked_ms = _monotonic_ms()
        token = secrets.token_bytes(16)
        try:
            mine = await self._lock.acquire(token=token)
        except asyncio.CancelledError:
            await self._give_back(token)
            raise
        if not mine:
            return False
        self._held_until_ms = asked_ms + self._ttl_ms
        self._stop.clear()
        self._renewal = asyncio.create_task(self._renew(), name=f"lease {self.name}")
        return True

    async def release(self) -> None:
        """Give it back, if it is still held; safe to call twice."""
        self._held_until_ms = 0
        if self._renewal is not None:
            self._stop.set()
            await self._renewal
            self._renewal = None
            with contextlib.suppress(LockError, RedisError, OSError):
                await self._lock.release()

    async def _give_back(self, token: bytes) -> None:
        """What may have been granted meanwhile would be held up for its whole length by nobody."""
        self._lock.local.token = token
        with contextlib.suppress(LockError, RedisError, OSError):  # TimeoutError is an OSError
            async with asyncio.timeout(_GIVE_BACK_S):
                await self._lock.release()

    async def _renew(self) -> None:
        while not await pause_unless(self._stop, self._ttl_ms / 3_000):
            asked_ms = _monotonic_ms()
            try:
                await self._lock.reacquire()
            except LockError:
                self._held_until_ms = 0
                _log.warning(events.LEASE_LOST, lease=self.name)
                return
            except (RedisError, OSError):
                continue
            if not self._stop.is_set():
                self._held_until_ms = asked_ms + self._ttl_ms


def _monotonic_ms() -> int:
    return time.monotonic_ns() // 1_000_000
