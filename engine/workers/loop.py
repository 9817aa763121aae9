"""The lanes' worker, with its failures in the log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import structlog
from redis.exceptions import RedisError

from engine.lanes import Job, Lanes, Observer, Observers, Shift, Unobserved, Verdict, Worker
from engine.store.errors import StoreUnavailable
from engine.workers import events

_log = structlog.get_logger(__name__)


class Logged:
    """An observer that writes down what befalls a worker.

    Args:
        name: what the events call the worker.
        queue: the queue it drains.
    """

    def __init__(self, name: str, queue: str) -> None:
        self._log: Any = _log.bind(loop=name, queue=queue)

    def answered(self, took_ms: float) -> None:
        """A claim was answered: nothing to write down."""

    def claimed(self, jobs: Sequence[Job]) -> None:
        """A claim got something."""
        self._log.debug(events.CLAIMED, count=len(jobs))

    def failed(self, error: Exception, failures: int) -> None:
        """Something outside is broken; with a traceback where it is not merely out of reach."""
        outside = isinstance(error, (RedisError, OSError, StoreUnavailable))
        self._log.warning(
            events.LOOP_FAILED, error=type(error).__name__, failures=failures, exc_info=None if outside else error
        )

    def recovered(self, failures: int) -> None:
        """It works again."""
        self._log.info(events.LOOP_RECOVERED, failures=failures)

    def retried(self, job: Job, error: Exception, verdict: Verdict) -> None:
        """A handler failed on the job."""
        self._log.error(events.POISONED, job=job.id, error=type(error).__name__, verdict=verdict.value)

    def released(self, jobs: Sequence[Job]) -> None:
        """Jobs went back unburnt."""
        self._log.warning(events.RELEASED, count=len(jobs))

    def lost(self, jobs: Sequence[str]) -> None:
        """Their handler was stopped: others may have them."""
        self._log.warning(events.LEASES_LOST, count=len(jobs))


def worker(
    name: str,
    lanes: Lanes,
    handle: Callable[[list[Job]], Awaitable[None]],
    shift: Shift,
    observer: Observer | None = None,
) -> Worker:
    """Make a worker of one queue whose handlers settle their jobs themselves.

    Args:
        name: what its log events call it.
        lanes: the queue.
        handle: runs and settles jobs.
        shift: how much at once, and how long.
        observer: is told what the log is told.
    """
    return Worker(lanes, handle, shift, Observers(Logged(name, lanes.queue), observer or Unobserved()))
