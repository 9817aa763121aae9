"""The worker loop: claim, handle, settle, again; park when there is nothing; outlive every outage.

What is done is completed together with the next claim, in one round trip. Leases are kept alive while their handlers
run. A stop is graceful: no claim is begun after it, what runs may finish within the grace, and what then still runs is
stopped and given back with its attempts unburnt.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from redis.exceptions import RedisClusterException, RedisError

from engine.lanes import bounds
from engine.lanes.claiming import Claiming
from engine.lanes.errors import BadArgument, LeaseLost, Verdict
from engine.lanes.job import LEASE_MS, Job
from engine.lanes.settling import PORTION, Settling

_PARK_MS: Final = 60_000
_BACKOFF_FIRST_S: Final = 0.05
_BACKOFF_MOST_S: Final = 5.0
_UNREACHABLE: Final = (RedisError, RedisClusterException, OSError)

Handle = Callable[[list[Job]], Awaitable[None]]


class Working(Claiming, Settling):
    """The verbs of a worker; `Lanes` has them."""


class Observer(Protocol):
    """Is told what befalls a worker; must not block or raise."""

    def claimed(self, jobs: Sequence[Job]) -> None:
        """A claim got something."""
        ...

    def failed(self, error: Exception, failures: int) -> None:
        """Something outside is broken, for the so many-th time in a row; the worker waits and goes on."""
        ...

    def recovered(self, failures: int) -> None:
        """It works again."""
        ...

    def retried(self, job: Job, error: Exception, verdict: Verdict) -> None:
        """A handler failed on the job."""
        ...

    def released(self, jobs: Sequence[Job]) -> None:
        """Jobs were given back unrun, or not run to their end."""
        ...

    def lost(self, jobs: Sequence[str]) -> None:
        """Leases were lost while their handler ran, which was stopped."""
        ...


class Unobserved:
    """Nobody looks."""

    def claimed(self, jobs: Sequence[Job]) -> None:
        """See `Observer`."""

    def failed(self, error: Exception, failures: int) -> None:
        """See `Observer`."""

    def recovered(self, failures: int) -> None:
        """See `Observer`."""

    def retried(self, job: Job, error: Exception, verdict: Verdict) -> None:
        """See `Observer`."""

    def released(self, jobs: Sequence[Job]) -> None:
        """See `Observer`."""

    def lost(self, jobs: Sequence[str]) -> None:
        """See `Observer`."""


@dataclass(frozen=True, slots=True)
class Shift:
    """How a worker works.

    Args:
        batch: jobs a claim.
        at_once: handlers side by side.
        together: whether one handler gets all that a claim took; else each gets one job.
        by_group: whether to claim by `claim_group`; `together` then.
        lease_ms: how long a claim lasts before it must be renewed.
        grace_ms: how long handlers may go on after a stop.
        park_ms: how long it waits for work before it claims again though nothing woke it.
        stop_lost: whether a handler is stopped when its lease is lost; else it ends by itself, and its settlements
            answer `stale`.
        outside: what a handler raises if something outside is broken: its jobs go back unburnt, and the worker waits
            before it claims again. Anything else is its jobs' fault: they are retried.
    """

    batch: int = 32
    at_once: int = 32
    together: bool = False
    by_group: bool = False
    lease_ms: int = LEASE_MS
    grace_ms: int = 10_000
    park_ms: int = _PARK_MS
    stop_lost: bool = True
    outside: tuple[type[Exception], ...] = _UNREACHABLE

    def __post_init__(self) -> None:
        bounds.whole("batch", self.batch, 1, PORTION)
        bounds.whole("at_once", self.at_once, 1, bounds.MAX_COUNT)
        bounds.ms("lease_ms", self.lease_ms, 1, bounds.MAX_LEASE_MS)
        bounds.ms("grace_ms", self.grace_ms, 0, bounds.MAX_LEASE_MS)
        bounds.ms("park_ms", self.park_ms, 1, bounds.MAX_LEASE_MS)
        if self.by_group and not self.together:
            raise BadArgument("together", self.together, "True where by_group is: one handler speaks for a group")


class Worker:
    """Works off one queue.

    Args:
        lanes: the queue.
        handle: runs jobs. What it has not settled when it returns is completed.
        shift: how much at once, and how long.
        observer: is told of failures.

    Attributes:
        last_claim_monotonic_ms: when the last claim worked, on this host's monotonic clock; None before the first.
    """

    def __init__(
        self, lanes: Working, handle: Handle, shift: Shift | None = None, observer: Observer | None = None
    ) -> None:
        self._lanes = lanes
        self._handle = handle
        self._shift = shift if shift is not None else Shift()
        self._observer: Observer = observer if observer is not None else Unobserved()
        self._running: set[asyncio.Task[None]] = set()
        self._done: list[Job] = []
        self._changed = asyncio.Event()
        self._parked: asyncio.Task[None] | None = None
        self._trouble: Exception | None = None
        self._failures = 0
        self.last_claim_monotonic_ms: int | None = None

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set; cancelled, it gives back what runs and ends at once."""
        stopped = asyncio.ensure_future(stop.wait())
        grace_s = 0.0
        try:
            while not stop.is_set():
                try:
                    await self._turn(stopped)
                except Exception as error:  # noqa: BLE001 - a worker outlives whatever is broken around it
                    self._trouble = error
                if self._trouble is not None:
                    await self._back_off(stopped)
            grace_s = self._shift.grace_ms / 1000
        finally:
            stopped.cancel()
            await self._wind_down(grace_s)

    async def _turn(self, stopped: asyncio.Future[Any]) -> None:
        room = self._shift.at_once - len(self._running)
        self._changed.clear()
        if room <= 0:
            await self._unpark()
            await self._wait(stopped)
            return
        if self._parked is not None and self._parked.done():
            parked, self._parked = self._parked, None
            await parked
        jobs = await self._claim(self._shift.batch if self._shift.together else min(room, self._shift.batch))
        self.last_claim_monotonic_ms = time.monotonic_ns() // 1_000_000
        if jobs:
            self._observer.claimed(jobs)
            for unit in [jobs] if self._shift.together else [[job] for job in jobs]:
                task = asyncio.get_running_loop().create_task(self._work(unit))
                self._running.add(task)
                task.add_done_callback(self._finished)
            return
        self._recover()
        if self._parked is None:
            self._parked = asyncio.get_running_loop().create_task(self._lanes.wait(self._shift.park_ms))
            self._parked.add_done_callback(lambda _: self._changed.set())
        await self._wait(stopped)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._changed.set()

    async def _wait(self, stopped: asyncio.Future[Any]) -> None:
        """Wait until a handler ends, a wait for work does, or the stop."""
        changed = asyncio.ensure_future(self._changed.wait())
        try:
            await asyncio.wait((changed, stopped), return_when=asyncio.FIRST_COMPLETED)
        finally:
            changed.cancel()

    async def _claim(self, count: int) -> list[Job]:
        """Complete what is done and take the next jobs; what could not be completed is tried again."""
        shift, done = self._shift, self._done[:PORTION]
        if shift.by_group:
            await self._lanes.complete(done)
            jobs = await self._lanes.claim_group(count, shift.lease_ms)
        else:
            _, jobs = await self._lanes.exchange(done, count, shift.lease_ms)
        del self._done[: len(done)]
        return jobs

    async def _work(self, jobs: list[Job]) -> None:
        kept = self._lanes.keep(jobs, self._shift.lease_ms, stop=self._shift.stop_lost)
        try:
            async with kept:
                await self._handle(jobs)
        except LeaseLost as lost:
            self._observer.lost(lost.jobs)
        except asyncio.CancelledError:
            await asyncio.shield(self._release(kept.left))
            raise
        except self._shift.outside as error:
            self._trouble = error
            await self._release(kept.left)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is put down to the jobs
            await self._retry(kept.left, error)
        else:
            if kept.lost:
                self._observer.lost([job.id for job in kept.lost])
            self._done += kept.left
            self._recover()

    async def _retry(self, jobs: Sequence[Job], error: Exception) -> None:
        try:
            for job in jobs:
                verdict = await self._lanes.retry(job, f"{type(error).__name__}: {error}")
                self._observer.retried(job, error, verdict)
        except _UNREACHABLE as unreachable:
            self._trouble = unreachable  # they come back when their leases lapse

    async def _release(self, jobs: Sequence[Job]) -> None:
        if not jobs:
            return
        with contextlib.suppress(*_UNREACHABLE):  # else they come back when their leases lapse
            await self._lanes.release(jobs)
        self._observer.released(jobs)

    async def _back_off(self, stopped: asyncio.Future[Any]) -> None:
        self._failures += 1
        if self._trouble is not None:
            self._observer.failed(self._trouble, self._failures)
        self._trouble = None
        most_s = min(_BACKOFF_MOST_S, _BACKOFF_FIRST_S * 2 ** min(self._failures, 10))
        await asyncio.wait((stopped,), timeout=random.uniform(most_s / 2, most_s))  # noqa: S311 - jitter, not a secret

    def _recover(self) -> None:
        if self._failures:
            self._observer.recovered(self._failures)
            self._failures = 0

    async def _unpark(self) -> None:
        """Stop waiting for work: whoever has no room for it must not take the token that wakes another."""
        if self._parked is not None:
            self._parked.cancel()
            await asyncio.gather(self._parked, return_exceptions=True)
            self._parked = None

    async def _wind_down(self, grace_s: float) -> None:
        await self._unpark()
        if self._running and grace_s > 0:
            await asyncio.wait(self._running, timeout=grace_s)
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        done, self._done = self._done, []
        if done:
            with contextlib.suppress(*_UNREACHABLE):  # else they come back when their leases lapse
                await asyncio.shield(self._lanes.complete(done))
