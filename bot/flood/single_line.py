"""Lanes without lanes: every job of every group waits in one line, first come, first served. For comparison only.

``python -m bot.flood.single_line bot`` (or ``worker``) is that command of the product on such a line.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bot.commands.serve import BOT, WORKER, serve_apart
from engine.lanes import Admission, Job, Lanes, Verdict
from engine.lanes.job import LEASE_MS

LINE: Final = "ROM00000000000"
"""The one group, which is its own lane."""
_ID: Final = len(LINE)


class SingleLine(Lanes):
    """A queue whose jobs carry their group and lane at the front of their payload; levers of groups do nothing."""

    async def enqueue(  # noqa: PLR0917 - the design binds names and order
        self,
        group: str,
        job_id: str,
        payload: bytes,
        lane: str | None = None,
        delay_ms: int = 0,
        dedup: str | bytes | None = None,
        dedup_ms: int = 86_400_000,
        weight: int | None = None,
    ) -> Admission:
        """Put the job at the end of the line."""
        del weight
        addressed = f"{group}{lane or group}".encode() + payload
        return await super().enqueue(LINE, job_id, addressed, LINE, delay_ms, dedup, dedup_ms)

    async def claim(self, count: int = 1, lease_ms: int = LEASE_MS) -> list[Job]:
        """Take the first ones."""
        return [_outer(job) for job in await super().claim(count, lease_ms)]

    async def exchange(
        self, done: Sequence[Job], count: int = 1, lease_ms: int = LEASE_MS
    ) -> tuple[list[Verdict], list[Job]]:
        """Complete, and take the first ones."""
        verdicts, jobs = await super().exchange([_inner(job) for job in done], count, lease_ms)
        return verdicts, [_outer(job) for job in jobs]

    async def complete(self, jobs: Sequence[Job], cooldown_ms: int = 0) -> list[Verdict]:
        """As ever."""
        return await super().complete([_inner(job) for job in jobs], cooldown_ms)

    async def release(self, jobs: Sequence[Job]) -> list[Verdict]:
        """As ever."""
        return await super().release([_inner(job) for job in jobs])

    async def extend(self, jobs: Sequence[Job], lease_ms: int) -> list[Verdict]:
        """As ever."""
        return await super().extend([_inner(job) for job in jobs], lease_ms)

    async def retry(self, job: Job, error: str | BaseException, delay_ms: int | None = None) -> Verdict:
        """As ever."""
        return await super().retry(_inner(job), error, delay_ms)

    async def limit(self, group: str, n: int | None) -> None:
        """Nothing: a line has no groups."""

    async def weight(self, group: str, w: int | None) -> None:
        """Nothing: a line has no groups."""

    async def cap(self, group: str, depth: int | None = None, lane_depth: int | None = None) -> None:
        """Nothing: a line has no groups."""

    async def depth(self, group: str) -> int:
        """How long the line is."""
        del group
        return await super().depth(LINE)

    async def oldest(self, group: str) -> int | None:
        """The first of the line."""
        del group
        return await super().oldest(LINE)


def _outer(job: Job) -> Job:
    """The job as its handler knows it; one that is in this form already stays."""
    if job.group != LINE:
        return job
    group, lane = job.payload[:_ID].decode("ascii"), job.payload[_ID : 2 * _ID].decode("ascii")
    return replace(job, group=group, lane=lane, payload=job.payload[2 * _ID :])


def _inner(job: Job) -> Job:
    """The job as the line knows it."""
    return job if job.group == LINE else replace(job, group=LINE, lane=LINE)


if __name__ == "__main__":
    serve_apart({"bot": BOT, "worker": WORKER}[sys.argv[1]], SingleLine)
