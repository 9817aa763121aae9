"""Workers at work, for tests of what they do: let one run for the length of a block, and note what it tells."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from redis.asyncio import Redis

from engine.lanes import Job, Verdict, Worker
from tests.waiting import wait_until


@dataclass
class Notes:
    """An observer that remembers."""

    answers: list[float] = field(default_factory=list)
    claims: list[int] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    recoveries: int = 0
    retries: list[tuple[str, Verdict]] = field(default_factory=list)
    given_back: list[str] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)

    def answered(self, took_ms: float) -> None:
        self.answers.append(took_ms)

    def claimed(self, jobs: Sequence[Job]) -> None:
        self.claims.append(len(jobs))

    def failed(self, error: Exception, failures: int) -> None:
        self.failures.append(error)
        assert failures >= 1

    def recovered(self, failures: int) -> None:
        assert failures >= 1
        self.recoveries += 1

    def retried(self, job: Job, error: Exception, verdict: Verdict) -> None:
        assert str(error)
        self.retries.append((job.id, verdict))

    def released(self, jobs: Sequence[Job]) -> None:
        self.given_back += [job.id for job in jobs]

    def lost(self, jobs: Sequence[str]) -> None:
        self.losses += jobs


@asynccontextmanager
async def at_work(worker: Worker) -> AsyncIterator[asyncio.Event]:
    """Let the worker work for the length of the block; it is stopped at the end, if it was not before."""
    stop = asyncio.Event()
    working = asyncio.create_task(worker.run(stop))
    try:
        yield stop
    finally:
        stop.set()
        await asyncio.wait_for(working, 10)


async def is_parked(redis: Redis) -> None:
    async def blocked() -> bool:
        return int((await redis.info("clients"))["blocked_clients"]) == 1

    await wait_until(blocked, "the worker is parked")
