"""Settling: how a lease ends, or is made longer.

Only the newest token of a job settles it; a late or repeated settlement answers ``stale`` and changes nothing.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from engine.lanes import bounds
from engine.lanes.errors import VERDICTS, BadArgument, Verdict
from engine.lanes.job import Job
from engine.lanes.queue import Queue
from engine.lanes.transport import Words

PORTION: Final = 1_000


class Settling(Queue):
    """The verbs of a worker that has jobs. Lists are answered in their order; an empty one is fine."""

    async def extend(self, jobs: Sequence[Job], lease_ms: int) -> list[Verdict]:
        """Let leases end ``lease_ms`` (1 ms to 24 h) from now."""
        bounds.ms("lease_ms", lease_ms, 1, bounds.MAX_LEASE_MS)
        return await self._settle("extend", jobs, lease_ms)

    async def complete(self, jobs: Sequence[Job], cooldown_ms: int = 0) -> list[Verdict]:
        """End the leases of jobs that are done; the jobs are forgotten.

        Args:
            jobs: as they were claimed.
            cooldown_ms: hold their groups for so long (at least; 0 to 366 days). A stale settlement holds nothing.
        """
        bounds.ms("cooldown_ms", cooldown_ms, 0, bounds.MAX_DELAY_MS)
        return await self._settle("complete", jobs, cooldown_ms)

    async def release(self, jobs: Sequence[Job]) -> list[Verdict]:
        """Give unrun jobs back to their places, their attempts unburnt."""
        return await self._settle("release", jobs)

    async def retry(self, job: Job, error: str | BaseException, delay_ms: int | None = None) -> Verdict:
        """Let a failed job run again, in its old place, or bury it if this was its last attempt.

        Args:
            job: as it was claimed.
            error: what went wrong; a thousand bytes of it are kept.
            delay_ms: 0 to 366 days; None for exponential backoff with full jitter.
        """
        if delay_ms is None:
            delay_ms = self._backoff(_leased(job).attempts)
        bounds.ms("delay_ms", delay_ms, 0, bounds.MAX_DELAY_MS)
        text = bounds.error_text(error)
        reply = await self._transport.run("retry", _leased(job).lease, delay_ms, self._max_attempts, text)
        return VERDICTS[reply[0]]

    async def _settle(self, verb: str, jobs: Sequence[Job], *args: int) -> list[Verdict]:
        leases = [_leased(job).lease for job in jobs]
        portions: list[Words] = [[*args, *leases[first : first + PORTION]] for first in range(0, len(leases), PORTION)]
        verdicts: list[Verdict] = []
        for reply in await self._transport.run_many(verb, portions):
            if isinstance(reply, Exception):
                raise reply
            verdicts += [VERDICTS[code] for code in reply]
        return verdicts

    def _backoff(self, attempts: int) -> int:
        # Full jitter: workers that failed together do not come back together.
        most = min(self._backoff_ceiling_ms, self._backoff_ms << min(attempts - 1, 40))
        return random.randint(1, most)  # noqa: S311 - spreads load, guards nothing


def _leased(job: object) -> Job:
    if not isinstance(job, Job):
        raise BadArgument("jobs", job, "a Job as claim returned it")
    return job
