"""Claiming: how a worker takes jobs, and waits for more."""

from __future__ import annotations

from engine.lanes import bounds
from engine.lanes.job import LEASE_MS, Job, jobs_of
from engine.lanes.queue import Queue


class Claiming(Queue):
    """The verbs of a worker that looks for work."""

    async def claim(self, count: int = 1, lease_ms: int = LEASE_MS) -> list[Job]:
        """Lease the next jobs in rota order across groups; never blocks, one round trip.

        Promotes due jobs, ends holds and reaps lapsed leases first, a bounded number of each.

        Args:
            count: 1 to 10,000 jobs at most.
            lease_ms: how long each may run before another may have it, 1 ms to 24 h.
        """
        return await self._claim("claim", count, lease_ms)

    async def claim_group(self, count: int, lease_ms: int = LEASE_MS) -> list[Job]:
        """Lease up to ``count`` jobs of the one group whose turn it is; the group rests until the last of them ends.

        So one worker at a time speaks for a group. The group's weight does not count, its ceiling does.
        """
        return await self._claim("claim_group", count, lease_ms)

    async def _claim(self, verb: str, count: int, lease_ms: int) -> list[Job]:
        bounds.whole("count", count, 1, bounds.MAX_COUNT)
        bounds.ms("lease_ms", lease_ms, 1, bounds.MAX_LEASE_MS)
        _, *reply = await self._transport.run(verb, count, lease_ms, self._max_attempts)
        return jobs_of(reply)

    async def wait(self, timeout_ms: int) -> None:
        """Park until there may be work, or ``timeout_ms`` (0 to 24 h) is over; claim afterwards, whatever it was.

        Wakes for a token, the nearest due job, end of a hold or deadline of a lease; returns at once if the ring has
        a group. Takes a connection of the client's pool for as long as it parks. Cancelling it loses nothing.
        """
        bounds.ms("timeout_ms", timeout_ms, 0, bounds.MAX_LEASE_MS)
        await self._transport.park("wait", self._keys.wake, timeout_ms)
