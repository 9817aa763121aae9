"""Settling: how a lease ends, or is made longer.

Only the newest token of a job settles it; a late or repeated settlement answers ``stale`` and changes nothing.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cached_property
from typing import Final

from engine.lanes import bounds
from engine.lanes.errors import VERDICTS, BadArgument, Verdict
from engine.lanes.job import LEASE_MS, Job, jobs_of
from engine.lanes.keeping import Keeper, Kept
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

    async def exchange(
        self, done: Sequence[Job], count: int = 1, lease_ms: int = LEASE_MS
    ) -> tuple[list[Verdict], list[Job]]:
        """Complete jobs that are done and claim the next ones, in one round trip: `complete`, then `claim`.

        Args:
            done: at most a thousand jobs as they were claimed; may be empty.
            count: 1 to 10,000 jobs at most.
            lease_ms: how long each may run before another may have it, 1 ms to 24 h.
        """
        bounds.whole("count", count, 1, bounds.MAX_COUNT)
        bounds.ms("lease_ms", lease_ms, 1, bounds.MAX_LEASE_MS)
        leases = [_leased(job).lease for job in done]
        if len(leases) > PORTION:
            raise BadArgument("done", f"{len(leases)} jobs", f"at most {PORTION} jobs")
        self._keeper.settled(leases)
        _, codes, claimed = await self._transport.run("exchange", count, lease_ms, self._max_attempts, *leases)
        return [VERDICTS[code] for code in codes], jobs_of(claimed[1:])

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
        self._keeper.settled([_leased(job).lease])
        reply = await self._transport.run("retry", _leased(job).lease, delay_ms, self._max_attempts, text)
        return VERDICTS[reply[0]]

    def keep(self, jobs: Sequence[Job], lease_ms: int = LEASE_MS, *, stop: bool = True) -> Kept:
        """Keep leases alive while an ``async with`` runs, and stop it once they are lost.

        They are renewed well before they lapse. Settling one through this object ends its keeping. When the last
        unsettled one is lost, the block is cancelled and raises `LeaseLost`.

        Args:
            jobs: as they were claimed, just now.
            lease_ms: what they were claimed with, 1 ms to 24 h; each renewal lasts as long.
            stop: whether to cancel; else `Kept.lost` merely tells.
        """
        bounds.ms("lease_ms", lease_ms, 1, bounds.MAX_LEASE_MS)
        return Kept(self._keeper, [_leased(job) for job in jobs], lease_ms, stop=stop)

    @cached_property
    def _keeper(self) -> Keeper:
        return Keeper(self.extend)

    async def _settle(self, verb: str, jobs: Sequence[Job], *args: int) -> list[Verdict]:
        leases = [_leased(job).lease for job in jobs]
        if verb != "extend":
            self._keeper.settled(leases)
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
