"""What all verbs of a queue stand on: its keys, its transport and how it was set up."""

from __future__ import annotations

from typing import Final

from engine import ids
from engine.lanes import bounds
from engine.lanes.connections import Client
from engine.lanes.job import MAX_ATTEMPTS
from engine.lanes.keys import Keys
from engine.lanes.transport import Transport

MAX_REPLICAS: Final = 100


class Queue:
    """One named set of lanes with one ring.

    Args:
        redis: a client of ``redis.asyncio``, of one server or of a cluster, made with ``decode_responses=False``; it
            stays the caller's to close.
        queue: its name: every key starts with ``emq:{queue}:``.
        job_kind: the kind every job id must be of; None for any.
        max_attempts: claims after which a failing or lapsing job is buried; None for never.
        backoff_ms: what the first retry waits at most (ms); it doubles with every attempt.
        backoff_ceiling_ms: what any retry waits at most (ms).
        replicas: how many replicas must have an admission before it is answered.
        replicas_ms: how long they may take (ms) before it fails with `NotReplicated`.

    Raises:
        BadArgument: one of them is out of bounds.
        BadId: ``job_kind`` is not three capital letters.
    """

    def __init__(
        self,
        redis: Client,
        queue: str,
        *,
        job_kind: str | None = ids.JOB,
        max_attempts: int | None = 5,
        backoff_ms: int = 1_000,
        backoff_ceiling_ms: int = 300_000,
        replicas: int = 0,
        replicas_ms: int = 1_000,
    ) -> None:
        self.queue: Final = queue
        if job_kind is not None:
            ids.brand(job_kind, 0)
        self._keys = Keys(queue)
        self._job_kind = job_kind
        self._max_attempts = 0 if max_attempts is None else bounds.whole("max_attempts", max_attempts, 1, MAX_ATTEMPTS)
        self._backoff_ms = bounds.ms("backoff_ms", backoff_ms, 1, bounds.MAX_DELAY_MS)
        self._backoff_ceiling_ms = bounds.ms("backoff_ceiling_ms", backoff_ceiling_ms, 1, bounds.MAX_DELAY_MS)
        self._transport = Transport(
            redis,
            self._keys.base,
            replicas=bounds.whole("replicas", replicas, 0, MAX_REPLICAS),
            replicas_ms=bounds.ms("replicas_ms", replicas_ms, 1, bounds.MAX_LEASE_MS),
            counters=self._keys.state,
        )

    def _job_id(self, job_id: object) -> str:
        return ids.check(job_id, kind=self._job_kind, argument="job_id")

    @staticmethod
    def _group(group: object) -> str:
        return ids.check(group, argument="group")
