"""The worker loop: claim, handle, again; park when there is nothing; outlive every outage.

A stop is graceful: no claim is begun after it, and what was taken is handled to its end.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Callable
from typing import Final

import structlog
from redis.exceptions import RedisError

from engine.lanes import Job, Lanes
from engine.store.errors import StoreUnavailable
from engine.workers import events
from engine.workers.stopping import pause_unless

_PARK_MS: Final = 5_000
_BACKOFF_FIRST_S: Final = 0.05
_BACKOFF_MOST_S: Final = 5.0

_log = structlog.get_logger(__name__)


class Loop:
    """One worker of one queue.

    Args:
        name: what its log events call it.
        lanes: the queue to park on.
        claim: takes the next jobs.
        handle: runs and settles them. Raising means that something outside is broken, not a job: the jobs go back
            unburnt, and the loop waits before it claims again.
    """

    def __init__(
        self,
        name: str,
        lanes: Lanes,
        claim: Callable[[], Awaitable[list[Job]]],
        handle: Callable[[list[Job]], Awaitable[None]],
    ) -> None:
        self._lanes = lanes
        self._claim = claim
        self._handle = handle
        self._log = _log.bind(loop=name, queue=lanes.queue)
        self._failures = 0
        self.last_claim_monotonic_ms: int | None = None

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set."""
        while not stop.is_set():
            try:
                jobs = await self._claim()
                self.last_claim_monotonic_ms = time.monotonic_ns() // 1_000_000
                if jobs:
                    self._log.debug(events.CLAIMED, count=len(jobs))
                    await self._run(jobs)
                else:
                    await self._park(stop)
            except Exception as error:  # noqa: BLE001 - a worker outlives whatever is broken around it
                if await self._back_off(error, stop):
                    return
            else:
                self._recover()

    async def _run(self, jobs: list[Job]) -> None:
        try:
            await self._handle(jobs)
        except BaseException:
            # Also when cancelled: what was not settled goes back; what was answers stale, and nothing changes.
            with contextlib.suppress(RedisError, OSError):
                await asyncio.shield(self._lanes.release(jobs))
            self._log.warning(events.RELEASED, count=len(jobs))
            raise

    async def _park(self, stop: asyncio.Event) -> None:
        parked = asyncio.ensure_future(self._lanes.wait(_PARK_MS))
        stopped = asyncio.ensure_future(stop.wait())
        try:
            await asyncio.wait((parked, stopped), return_when=asyncio.FIRST_COMPLETED)
            if parked.done():
                await parked
        finally:
            for task in (parked, stopped):
                task.cancel()
            await asyncio.gather(parked, stopped, return_exceptions=True)

    async def _back_off(self, error: Exception, stop: asyncio.Event) -> bool:
        self._failures += 1
        outside = isinstance(error, (RedisError, OSError, StoreUnavailable))
        self._log.warning(
            events.LOOP_FAILED, error=type(error).__name__, failures=self._failures, exc_info=None if outside else error
        )
        most = min(_BACKOFF_MOST_S, _BACKOFF_FIRST_S * 2 ** min(self._failures, 10))
        return await pause_unless(stop, random.uniform(most / 2, most))  # noqa: S311 - jitter, not a secret

    def _recover(self) -> None:
        if self._failures:
            self._log.info(events.LOOP_RECOVERED, failures=self._failures)
            self._failures = 0
