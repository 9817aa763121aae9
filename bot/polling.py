"""The right to poll Telegram, which lets one process at a time: a lease in Redis that all bots share."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from bot.pulse import Pulse
from engine.workers.lease import RedisLease

_NAME: Final = "polling"
_LOOK_EVERY_S: Final = 1.0


class PollingLease:
    """``bot.intake.Lease`` in Redis. Where its holder dies, another process has it within ``ttl_ms`` and a second.

    ``pulse`` beats while this process stands by, whenever Redis says who has it.
    """

    def __init__(self, redis: Redis, ttl_ms: int = 15_000, pulse: Pulse | None = None) -> None:
        self._lease = RedisLease(redis, _NAME, ttl_ms)
        self._pulse = pulse or Pulse()

    async def acquire(self) -> None:
        """Return once this process has the right; a Redis that is away is waited for."""
        while True:
            await self._lease.release()  # whatever became of an earlier one
            with contextlib.suppress(RedisError, OSError):
                mine = await self._lease.acquire()
                self._pulse.beat()  # standing by works, too
                if mine:
                    return
            await asyncio.sleep(_LOOK_EVERY_S)

    def held(self) -> bool:
        """Whether this process may still poll."""
        return self._lease.held()

    async def release(self) -> None:
        """Give it back."""
        await self._lease.release()
