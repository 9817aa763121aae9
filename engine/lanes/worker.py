"""The worker loop: claim, handle, settle, again; park when there is nothing; outlive every outage.

What is done is completed together with the next claim, in one round trip. While claims come back full, another is on
its way behind the one that is waited for, so that the server works while this side reads. Leases are kept alive while
their handlers run. A stop is graceful: no claim is begun after it, what runs may finish within the grace, and what then
still runs, or a claim still brings, is given back with its attempts unburnt.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from redis.exceptions import RedisClusterException, RedisError

from engine.lanes import bounds
from engine.lanes.claiming import Claiming
from engine.lanes.errors import BadArgument, LeaseLost
from engine.lanes.job import LEASE_MS, Job
from engine.lanes.observing import Observer, Unobserved
from engine.lanes.settling import PORTION, Settling

_PARK_MS: Final = 60_000
_BACKOFF_FIRST_S: Final = 0.05
_BACKOFF_MOST_S: Final = 5.0
_UNREACHABLE: Final = (RedisError, RedisClusterException, OSError)

_CLAIMS_AT_ONCE: Final = 2
_SILENCE_S: Final = 1.0

Handle = Callable[[list[Job]], Awaitable[None]]


class Working(Claiming, Settling):
    """The verbs of a worker; `Lanes` has them."""


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


@dataclass(frozen=True, slots=True)
class _Claim:
    """A claim on its way: how many jobs it asked for, and for how many of the handlers' places."""

    task: asyncio.Task[list[Job]]
    count: int
    places: int


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
        self._claims: deque[_Claim] = deque()
        self._full = False
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
        jobs = await self._take(room)
        self.last_claim_monotonic_ms = time.monotonic_ns() // 1_000_000
        if jobs:
            self._observer.claimed(jobs)
            for unit in [jobs] if self._shift.together else [[job] for job in jobs]:
                task = asyncio.get_running_loop().create_task(self._work(unit))
                self._running.add(task)
                task.add_done_callback(self._finished)
            return
        self._recover()
        if self._claims:
            return
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

    async def _take(self, room: int) -> list[Job]:
        """The next jobs; a cancelled call leaves the claims on their way to `_wind_down`."""
        shift = self._shift
        while len(self._claims) < (_CLAIMS_AT_ONCE if self._full and not shift.by_group else 1):
            places = min(room - sum(claim.places for claim in self._claims), 1 if shift.together else shift.batch)
            if places <= 0:
                break
            count = shift.batch if shift.together else places
            self._claims.append(_Claim(asyncio.get_running_loop().create_task(self._claim(count)), count, places))
        claim = self._claims[0]
        await asyncio.wait((claim.task,))
        self._claims.popleft()
        self._full = False
        jobs = claim.task.result()
        self._full = len(jobs) == claim.count
        return jobs

    async def _claim(self, count: int) -> list[Job]:
        """Complete what is done and take the next jobs; what could not be completed is tried again."""
        shift, done = self._shift, self._done[:PORTION]
        del self._done[: len(done)]
        begun_ns = time.perf_counter_ns()
        try:
            if shift.by_group:
                await self._lanes.complete(done)
                done = []
                jobs = await self._lanes.claim_group(count, shift.lease_ms)
            else:
                _, jobs = await self._lanes.exchange(done, count, shift.lease_ms)
        except BaseException:
            self._done += done
            raise
        self._observer.answered((time.perf_counter_ns() - begun_ns) / 1_000_000)
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

    async def _give_back(self, claim: asyncio.Task[list[Job]]) -> None:
        """Release what a claim on its way brings; from a server that is silent it comes back when its leases lapse."""
        await asyncio.wait((claim,), timeout=_SILENCE_S)
        claim.cancel()
        outcome = (await asyncio.gather(claim, return_exceptions=True))[0]
        if not isinstance(outcome, BaseException):
            await asyncio.shield(self._release(outcome))

    async def _wind_down(self, grace_s: float) -> None:
        await self._unpark()
        while self._claims:
            await self._give_back(self._claims.popleft().task)
        if self._running and grace_s > 0:
            await asyncio.wait(self._running, timeout=grace_s)
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        done, self._done = self._done, []
        if done:
            with contextlib.suppress(*_UNREACHABLE):  # else they come back when their leases lapse
                await asyncio.shield(self._lanes.complete(done))
