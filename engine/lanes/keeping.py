"""Keeps leases alive while their jobs run, and stops a handler whose lease is lost.

All leases that one queue object keeps are renewed together, in one script a third of a lease after they began. A lease
is lost when the server says so, or when it could not be renewed until its deadline, counted on this host's monotonic
clock from before the request that it was granted by.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from types import TracebackType
from typing import Final, Self

from redis.exceptions import RedisClusterException, RedisError

from engine.lanes.errors import LeaseLost, Verdict
from engine.lanes.job import Job

_RENEWALS: Final = 3
"""A lease is renewed when one part in so many of it is over."""
_AGAIN: Final = 20
"""A renewal that failed is tried again after one part in so many."""


class Kept:
    """Leases that are kept for the length of an ``async with``.

    Leaving it ends the keeping, and so does any settlement through the same `Lanes`. When the last unsettled lease is
    lost, the block is cancelled and raises `LeaseLost`.
    """

    def __init__(self, keeper: Keeper, jobs: Iterable[Job], lease_ms: int, *, stop: bool) -> None:
        self._stop = stop
        self.lease_ms: Final = lease_ms
        self._keeper = keeper
        self._jobs = {job.lease: job for job in jobs}
        self._lost: list[Job] = []
        self._task: asyncio.Task[object] | None = None
        self._cancelling = 0
        self._cancelled = False
        self.due_s = 0.0
        self.until_s = 0.0
        self.asked = False

    @property
    def left(self) -> list[Job]:
        """Those that are neither settled nor lost."""
        return list(self._jobs.values())

    @property
    def lost(self) -> list[Job]:
        """Those whose leases were lost."""
        return list(self._lost)

    async def __aenter__(self) -> Self:
        self._task = asyncio.current_task()
        self._cancelling = self._task.cancelling() if self._task is not None else 0
        self._keeper.begin(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._keeper.end(self)
        if not self._cancelled or self._task is None:
            return
        if kind is None:
            try:
                await asyncio.sleep(0)  # the cancellation is still to come
            except asyncio.CancelledError:
                kind = asyncio.CancelledError
        if self._task.uncancel() <= self._cancelling and kind is not None and issubclass(kind, asyncio.CancelledError):
            raise LeaseLost([job.id for job in self._lost]) from error

    def renewed(self, asked_s: float) -> None:
        """Reckon from when the renewal was asked for."""
        self.due_s = asked_s + self.lease_ms / 1000 / _RENEWALS
        self.until_s = asked_s + self.lease_ms / 1000

    def settled(self, lease: str) -> None:
        """Keep this one no longer."""
        self._jobs.pop(lease, None)

    def lose(self, lease: str) -> None:
        """Stop the block if this was the last one."""
        job = self._jobs.pop(lease, None)
        if job is None:
            return
        self._lost.append(job)
        if self._stop and not self._jobs and not self._cancelled and self._task is not None:
            self._cancelled = True
            self._task.cancel()


class Keeper:
    """All that is kept of one queue object.

    Args:
        extend: lengthens leases, and says of each what became of it.
    """

    def __init__(self, extend: Callable[[Sequence[Job], int], Awaitable[list[Verdict]]]) -> None:
        self._extend = extend
        self._kept: dict[str, Kept] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._renewals: set[asyncio.Task[None]] = set()

    def begin(self, kept: Kept) -> None:
        """Keep leases from now on; they were granted just now."""
        kept.renewed(asyncio.get_running_loop().time())
        for job in kept.left:
            self._kept[job.lease] = kept
        self._set_timer(kept.due_s)

    def end(self, kept: Kept) -> None:
        """Keep leases no longer."""
        for job in kept.left:
            self._kept.pop(job.lease, None)
        self._rest()

    def settled(self, leases: Iterable[str]) -> None:
        """Keep no longer what is being settled: a renewal that comes later would find it gone."""
        if not self._kept:
            return
        for lease in leases:
            kept = self._kept.pop(lease, None)
            if kept is not None:
                kept.settled(lease)
        self._rest()

    def _rest(self) -> None:
        if not self._kept and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self, at_s: float) -> None:
        if self._timer is not None and self._timer.when() <= at_s:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(at_s, self._ring)

    def _ring(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        now_s = loop.time()
        due: defaultdict[int, list[Kept]] = defaultdict(list)
        for kept in dict.fromkeys(self._kept.values()):
            if kept.due_s <= now_s:
                # Asked again soon, should there be no answer; an answer puts it off.
                kept.due_s = min(now_s + kept.lease_ms / 1000 / _AGAIN, max(kept.until_s, now_s))
                if kept.until_s <= now_s:
                    self._lose(kept, [job.lease for job in kept.left])
                elif not kept.asked:
                    kept.asked = True
                    due[kept.lease_ms].append(kept)
        for lease_ms, those in due.items():
            task = loop.create_task(self._renew(those, lease_ms))
            self._renewals.add(task)
            task.add_done_callback(self._renewals.discard)
        if self._kept:
            self._set_timer(max(now_s + 0.001, min(kept.due_s for kept in self._kept.values())))

    async def _renew(self, those: Sequence[Kept], lease_ms: int) -> None:
        asked_s = asyncio.get_running_loop().time()
        jobs = [(kept, job) for kept in those for job in kept.left]
        try:
            verdicts = await self._extend([job for _, job in jobs], lease_ms)
        except (RedisError, RedisClusterException, OSError):
            return  # asked again, until the deadline
        finally:
            for kept in those:
                kept.asked = False
        for (kept, job), verdict in zip(jobs, verdicts, strict=True):
            if verdict is not Verdict.ok and job.lease in self._kept:
                self._lose(kept, [job.lease])
        for kept in those:
            if asked_s + lease_ms / 1000 > kept.until_s:
                kept.renewed(asked_s)

    def _lose(self, kept: Kept, leases: Iterable[str]) -> None:
        for lease in leases:
            self._kept.pop(lease, None)
            kept.lose(lease)
        self._rest()
