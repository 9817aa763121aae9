"""The wall clock that rows are written by: the Redis server's, whatever this host's is set to.

Hosts differ, and are set right in the middle of a round. Lanes go by the Redis server's clock already; rounds that
went by each host's own would end a day early, or late, on whichever host looks.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Final, Self

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from engine.workers import events
from engine.workers.stopping import pause_unless

_LOOK_EVERY_S: Final = 5.0
_STEP_MS: Final = 1_000
"""Looks differ by what the network takes; more than this is a step."""

_log = structlog.get_logger(__name__)


class ServerClock:
    """Milliseconds since 1970 by the server's clock; goes on by this process's monotonic one between two looks at it.

    While the server is away it just goes on. Where the server's own clock is set, this follows at the next look: so do
    all processes, and those that start later.

    Args:
        ask: the server's clock, in ms.
        every_s: how often to ask.
    """

    def __init__(self, ask: Callable[[], Awaitable[int]], every_s: float = _LOOK_EVERY_S) -> None:
        self._ask = ask
        self._every_s = every_s
        self._ahead_ms: int | None = None
        self._watch: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()

    @classmethod
    def of(cls, redis: Redis) -> ServerClock:
        """The clock of the server behind ``redis``."""

        async def ask() -> int:
            seconds, microseconds = await redis.time()
            return int(seconds) * 1_000 + int(microseconds) // 1_000

        return cls(ask)

    async def __aenter__(self) -> Self:
        """Look once, and go on looking.

        Raises:
            RedisError, OSError: the server is away.
        """
        await self.look()
        self._watch = asyncio.create_task(self._follow(), name="clock")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watch is not None:
            self._stop.set()
            await self._watch

    def __call__(self) -> int:
        """The time now; only once somebody has looked."""
        if self._ahead_ms is None:
            raise RuntimeError("nobody has looked at the server's clock yet; enter the ServerClock first")
        return _monotonic_ms() + self._ahead_ms

    async def look(self) -> None:
        """Set this clock by the server's."""
        asked_ms = _monotonic_ms()
        told_ms = await self._ask()
        ahead_ms = told_ms - (asked_ms + _monotonic_ms()) // 2
        if self._ahead_ms is not None and abs(ahead_ms - self._ahead_ms) > _STEP_MS:
            _log.warning(events.CLOCK_STEPPED, by_ms=ahead_ms - self._ahead_ms)
        self._ahead_ms = ahead_ms

    async def _follow(self) -> None:
        while not await pause_unless(self._stop, self._every_s):
            try:
                await self.look()
            except (RedisError, OSError) as error:
                _log.debug(events.LOOP_FAILED, loop="clock", error=type(error).__name__)


def _monotonic_ms() -> int:
    return time.monotonic_ns() // 1_000_000
