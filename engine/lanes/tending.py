"""Tending: what is done to jobs that nobody is running: bring them back, move them, delete them.

Each script does a bounded part of the work; a verb that has more to do runs it again, and others have their turn
between.
"""

from __future__ import annotations

from engine import ids
from engine.lanes import bounds
from engine.lanes.errors import REASSIGNMENTS, Reassignment
from engine.lanes.queue import Queue

PORTION = 500


class Tending(Queue):
    """The verbs of housekeeping and of operators."""

    async def reap(self, limit: int = 100) -> int:
        """End up to ``limit`` lapsed leases: their jobs wait again, or are buried after their attempts.

        Returns how many leases it ended.
        """
        bounds.whole("limit", limit, 1, bounds.MAX_LIMIT)
        return int((await self._transport.run("reap", limit, self._max_attempts))[1])

    async def promote(self, limit: int = 100) -> int:
        """Move up to ``limit`` due jobs to their own lanes. Returns how many due entries it dealt with."""
        bounds.whole("limit", limit, 1, bounds.MAX_LIMIT)
        return int((await self._transport.run("promote", limit))[1])

    async def reap_group(self, group: str, limit: int = 100) -> int:
        """End up to ``limit`` lapsed leases of one group, as `reap` does. Returns how many it ended."""
        self._group(group)
        bounds.whole("limit", limit, 1, bounds.MAX_LIMIT)
        reaped, after = 0, b"-"
        while after and reaped < limit:
            wanted = min(limit - reaped, PORTION)
            _, ended, after = await self._transport.run("reap_group", group, wanted, self._max_attempts, after)
            reaped += ended
        return reaped

    async def redrive(self, group: str | None = None, job_id: str | None = None, limit: int = 100) -> int:
        """Admit up to ``limit`` dead jobs afresh (a new ``seq``, no attempts), each to its own lane.

        Those that a cap has no room for stay dead.

        Args:
            group: only this group's.
            job_id: only this job.
            limit: 1 to a million.

        Returns:
            How many were redriven.
        """
        if group is not None:
            self._group(group)
        if job_id is not None:
            self._job_id(job_id)
        bounds.whole("limit", limit, 1, bounds.MAX_LIMIT)
        redriven, after = 0, b"0" if group is None else b"-"
        while after and redriven < limit:
            wanted = min(limit - redriven, PORTION)
            _, revived, after = await self._transport.run("redrive", group or "", job_id or "", wanted, after)
            redriven += revived
        return redriven

    async def reassign(self, job_id: str, group: str, lane: str | None = None) -> Reassignment:
        """Move one waiting job to another group or lane; it keeps its ``seq``, and stands there where that puts it.

        Args:
            job_id: the job.
            group: where to.
            lane: the FIFO inside of it; left out, the group itself.
        """
        place = self._group(group), group if lane is None else ids.check(lane, argument="lane")
        return REASSIGNMENTS[(await self._transport.run("reassign", self._job_id(job_id), *place))[0]]

    async def drain(self, group: str, lane: str | None = None) -> int:
        """Delete what is waiting and scheduled in the group, or in one lane of it; what is in flight goes on.

        Jobs that come in meanwhile stay. Returns how many it deleted.
        """
        self._group(group)
        wanted = "" if lane is None else ids.check(lane, argument="lane")
        drained, horizon, after = 0, b"", b"-"
        while after:
            _, deleted, horizon, after = await self._transport.run("drain", group, wanted, horizon, after)
            drained += deleted
        return drained

    async def forget(self, group: str) -> int:
        """Delete all of the group: what waits, is scheduled, in flight or dead, and its levers.

        Leases of it are stale from then on. Jobs that come in meanwhile stay. Returns how many jobs it deleted.
        """
        self._group(group)
        forgotten, horizon, over = 0, b"", 0
        while not over:
            _, deleted, horizon, over = await self._transport.run("forget", group, horizon)
            forgotten += deleted
        return forgotten
