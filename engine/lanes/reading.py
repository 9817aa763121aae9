"""Reading: what a queue tells of itself. Nothing here changes anything."""

from __future__ import annotations

from engine import ids
from engine.lanes.job import Record, record_of
from engine.lanes.queue import Queue


class Reading(Queue):
    """The verbs that only look."""

    async def depth(self, group: str) -> int:
        """Count the group's jobs that are waiting or scheduled."""
        return int(await self._transport.read("HGET", self._keys.depths, self._group(group)) or 0)

    async def oldest(self, group: str) -> int | None:
        """Find the smallest ``seq`` of the group that is waiting, scheduled or leased; None if there is none.

        Costs a look at each of the group's lanes.
        """
        reply = await self._transport.run("oldest", self._group(group))
        return None if reply[0] < 0 else int(reply[1])

    async def job(self, job_id: str) -> Record | None:
        """Tell what is known of a job; None if none of this id lives."""
        ids.check(job_id, kind=self._job_kind, argument="job_id")
        reply = await self._transport.run("job", job_id)
        return None if reply[0] < 0 else record_of(job_id, reply)
