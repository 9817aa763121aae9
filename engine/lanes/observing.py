"""Who is told what befalls a worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from engine.lanes.errors import Verdict
from engine.lanes.job import Job


class Observer(Protocol):
    """Is told what befalls a worker; must not block or raise."""

    def answered(self, took_ms: float) -> None:
        """A claim was answered, with jobs or without; what was done is completed in the same time."""
        ...

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

    def answered(self, took_ms: float) -> None:
        """See `Observer`."""

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


class Observers:
    """Tells several, in their order."""

    def __init__(self, *told: Observer) -> None:
        self._told = told

    def answered(self, took_ms: float) -> None:
        """See `Observer`."""
        for each in self._told:
            each.answered(took_ms)

    def claimed(self, jobs: Sequence[Job]) -> None:
        """See `Observer`."""
        for each in self._told:
            each.claimed(jobs)

    def failed(self, error: Exception, failures: int) -> None:
        """See `Observer`."""
        for each in self._told:
            each.failed(error, failures)

    def recovered(self, failures: int) -> None:
        """See `Observer`."""
        for each in self._told:
            each.recovered(failures)

    def retried(self, job: Job, error: Exception, verdict: Verdict) -> None:
        """See `Observer`."""
        for each in self._told:
            each.retried(job, error, verdict)

    def released(self, jobs: Sequence[Job]) -> None:
        """See `Observer`."""
        for each in self._told:
            each.released(jobs)

    def lost(self, jobs: Sequence[str]) -> None:
        """See `Observer`."""
        for each in self._told:
            each.lost(jobs)
