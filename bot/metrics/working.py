"""What befalls this process's workers: an observer for each queue, and what it counts."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric

from bot.metrics.instruments import Counts, Spread
from bot.metrics.lately import Lately
from engine.lanes import Job, Verdict
from engine.workers.adapters import SETTLEMENTS

QUEUE: Final = ("queue",)
_CLAIM_S: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_WAIT_S: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1_800.0, 7_200.0)


class WorkMeter:
    """Counts for all queues; ``of`` makes the observer of one.

    Attributes:
        lately: the groups that each queue's worker served lately, by the queue's name.
    """

    def __init__(self) -> None:
        self.lately: dict[str, Lately] = {}
        self.claimed_s: dict[str, float] = {}
        self.claims = Spread(
            "codemojex_claim_seconds",
            "How long claims took, in seconds, empty ones too, with what they completed on their way.",
            _CLAIM_S,
            QUEUE,
        )
        self.waits = Spread(
            "codemojex_job_wait_seconds",
            "How long jobs had been in the queue when they were claimed for the first time, in seconds.",
            _WAIT_S,
            QUEUE,
        )
        self.claimed = Counts("codemojex_jobs_claimed", "Jobs that this process claimed.", QUEUE)
        self.retried = Counts("codemojex_jobs_retried", "Jobs that failed here and are tried again.", QUEUE)
        self.buried = Counts("codemojex_jobs_buried", "Jobs that failed here for the last time.", QUEUE)
        self.released = Counts("codemojex_jobs_released", "Jobs given back with no attempt counted.", QUEUE)
        self.lost = Counts("codemojex_leases_lost", "Leases that ended while their jobs were worked on.", QUEUE)
        self.failures = Counts(
            "codemojex_worker_failures", "Times that a worker stopped to wait: something outside is broken.", QUEUE
        )

    def of(self, queue: str, lease_ms: int) -> QueueObserver:
        """The observer of one queue's worker, whose leases last ``lease_ms``."""
        return QueueObserver(self, queue, lease_ms)

    def families(self) -> Iterator[Metric]:
        """See `Meter`."""
        counts = (self.claimed, self.retried, self.buried, self.released, self.lost, self.failures)
        yield from (each.family() for each in (self.claims, self.waits, *counts))
        ages = GaugeMetricFamily(
            "codemojex_claim_age_seconds", "How long ago a claim of this process last worked, in seconds.", labels=QUEUE
        )
        for queue, at_s in self.claimed_s.items():
            ages.add_metric([queue], time.monotonic() - at_s)
        yield ages


class QueueObserver:
    """An ``engine.lanes.Observer`` that counts.

    Args:
        meter: where to.
        queue: what the counts are labelled with.
        lease_ms: how long a claim leases; so it tells when, by the server's clock, it was made.
    """

    def __init__(self, meter: WorkMeter, queue: str, lease_ms: int) -> None:
        self._meter = meter
        self._queue = queue
        self._lease_ms = lease_ms
        self._lately = meter.lately.setdefault(queue, Lately())
        meter.claims.know(queue)
        for counts in (meter.claimed, meter.retried, meter.buried, meter.released, meter.lost, meter.failures):
            counts.add(queue, by=0)
        # A settlement waits for its round's deadline, so how long it waited says nothing.
        self._waits = queue != SETTLEMENTS
        if self._waits:
            meter.waits.know(queue)

    def answered(self, took_ms: float) -> None:
        """A claim was answered."""
        self._meter.claims.add(took_ms / 1_000, self._queue)
        self._meter.claimed_s[self._queue] = time.monotonic()

    def claimed(self, jobs: Sequence[Job]) -> None:
        """A claim got something."""
        self._meter.claimed.add(self._queue, by=len(jobs))
        self._lately.note([job.group for job in jobs])
        if self._waits:
            at_ms = jobs[0].lease_until_ms - self._lease_ms
            waits_s = [(at_ms - job.enqueued_ms) / 1_000 for job in jobs if job.attempts == 1]
            self._meter.waits.add_all(waits_s, self._queue)

    def failed(self, error: Exception, failures: int) -> None:
        """Something outside is broken."""
        del error, failures
        self._meter.failures.add(self._queue)

    def recovered(self, failures: int) -> None:
        """It works again."""

    def retried(self, job: Job, error: Exception, verdict: Verdict) -> None:
        """A handler failed on the job."""
        del job, error
        if verdict is Verdict.ok:
            self._meter.retried.add(self._queue)
        elif verdict is Verdict.dead:
            self._meter.buried.add(self._queue)

    def released(self, jobs: Sequence[Job]) -> None:
        """Jobs went back with no attempt counted."""
        self._meter.released.add(self._queue, by=len(jobs))

    def lost(self, jobs: Sequence[str]) -> None:
        """Leases ended while their handler ran."""
        self._meter.lost.add(self._queue, by=len(jobs))
