"""Pieces of work whose cost is asked of the server; what they leave behind is put back where that isn't the work."""

from __future__ import annotations

from benchmarks.loads import jobs
from benchmarks.server_time import Work
from engine.lanes import Admission, Job, Lanes, Submission

_LEASE_MS = 600_000


class Claiming:
    """Claims, again and again.

    Args:
        lanes: a queue that has enough.
        calls: a run is so many claims.
        batch: of so many jobs each.
    """

    def __init__(self, lanes: Lanes, calls: int, batch: int) -> None:
        self._lanes = lanes
        self._calls = calls
        self._batch = batch
        self._claimed: list[Job] = []

    async def claim(self) -> int:
        """Claim, and answer how many jobs that gave; they stay leased."""
        for _ in range(self._calls):
            self._enough(await self._lanes.claim(self._batch, _LEASE_MS))
        return self._calls * self._batch

    async def exchange(self) -> int:
        """Settle what the last call claimed and claim as much again; answers how many jobs that were."""
        for _ in range(self._calls):
            _, claimed = await self._lanes.exchange(self._claimed, self._batch, _LEASE_MS)
            self._claimed = self._enough(claimed)
        return self._calls * self._batch

    def _enough(self, claimed: list[Job]) -> list[Job]:
        if len(claimed) < self._batch:
            raise RuntimeError(f"{len(claimed)} jobs came of {self._batch}: the load is too small for its runs")
        return claimed


class Admitting:
    """Hands in jobs.

    Args:
        lanes: to this queue.
        among: dealt out among so many groups.
        first: the number of the first job that is new.
    """

    def __init__(self, lanes: Lanes, among: int, first: int) -> None:
        self._lanes = lanes
        self._among = among
        self._next = first

    def one_by_one(self, calls: int) -> Work:
        """So many calls of `enqueue`."""

        async def work() -> int:
            for job in self._jobs(calls):
                if await self._lanes.enqueue(job.group, job.job_id, job.payload) is not Admission.enqueued:
                    raise RuntimeError(f"{job.job_id} was refused")
            return calls

        return work

    def together(self, count: int) -> Work:
        """One call of `enqueue_many` of so many."""

        async def work() -> int:
            answers = await self._lanes.enqueue_many(self._jobs(count))
            if any(answer is not Admission.enqueued for answer in answers):
                raise RuntimeError("a job was refused")
            return count

        return work

    def _jobs(self, count: int) -> list[Submission]:
        self._next += count
        return list(jobs(count, self._among, first=self._next - count))
