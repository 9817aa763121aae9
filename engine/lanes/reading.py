"""Reading: what a queue tells of itself. Nothing here changes anything."""

from __future__ import annotations

import heapq
from typing import Final

from engine import ids
from engine.lanes import bounds
from engine.lanes.errors import BadArgument
from engine.lanes.job import CODES, Record, State, record_of
from engine.lanes.queue import Queue
from engine.lanes.stats import GroupStats, OtherStats, Stats, group_stats

MAX_TOP: Final = 1_000
MAX_BROWSED: Final = 1_000


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

    async def newest(self) -> int:
        """The largest number that any ``seq`` or fencing token has so far; 0 for a queue that has given none."""
        return int(await self._transport.read("HGET", self._keys.state, "clock") or 0)

    async def job(self, job_id: str) -> Record | None:
        """Tell what is known of a job; None if none of this id lives."""
        ids.check(job_id, kind=self._job_kind, argument="job_id")
        reply = await self._transport.run("job", job_id)
        return None if reply[0] < 0 else record_of(job_id, reply)

    async def known(self, dedup: str | bytes) -> bool:
        """Tell whether a job with this dedup key was admitted, and is remembered; it may be done."""
        return bool(await self._transport.read("EXISTS", self._keys.dedup(bounds.dedup_key(dedup))))

    async def browse(self, group: str | None, n: int = 10, state: State = State.waiting) -> list[Record]:
        """Show up to ``n`` (1 to 1000) jobs of a group that are in one state.

        Args:
            group: None for the whole queue, which shows no waiting jobs.
            n: how many.
            state: waiting ones come in the order in which the group's lanes give them, others of a group by ``seq``,
                others of the queue by the time that `Record.at_ms` tells.
        """
        if group is not None:
            self._group(group)
        elif state is State.waiting:
            raise BadArgument("group", group, "a group: what waits is shown of one group at a time")
        bounds.whole("n", n, 1, MAX_BROWSED)
        if not isinstance(state, State):
            raise BadArgument("state", state, f"one of {', '.join(State)}")
        records: list[Record] = []
        after, code = 0, CODES[state]
        while after >= 0 and len(records) < n:
            _, after, *rows = await self._transport.run("browse", group or "", code, n - len(records), after)
            for row in range(0, len(rows), 4):
                job_id, at_ms, attempts, record = rows[row : row + 4]
                records.append(record_of(job_id.decode("ascii"), (code, at_ms, attempts, record)))
        return records

    async def stats(self, top: int = 10) -> Stats:
        """Count the queue, with a row for each of its ``top`` (0 to 1000) deepest groups.

        Takes a bounded script for the totals, one for each thousand groups with a backlog, one for each row.
        """
        bounds.whole("top", top, 0, MAX_TOP)
        totals = await self._transport.run("stats")
        deepest: dict[str, int] = {}
        groups, depth, cursor = 0, 0, b"0"
        while True:
            _, cursor, its_groups, its_depth, *page = await self._transport.run("stats_page", cursor, top)
            groups, depth = groups + its_groups, depth + its_depth
            deepest.update({page[at].decode("ascii"): page[at + 1] for at in range(0, len(page), 2)})
            deepest = dict(heapq.nsmallest(top, deepest.items(), key=lambda pair: (-pair[1], pair[0])))
            if cursor == b"0":
                break
        rows = await self._rows(list(deepest))
        shown = sum(deepest.values())
        return _stats(totals[1:], depth, tuple(rows), OtherStats(max(0, groups - len(rows)), max(0, depth - shown)))

    async def _rows(self, groups: list[str]) -> list[GroupStats]:
        rows = []
        replies = await self._transport.run_many("stats_group", [[group] for group in groups])
        for group, reply in zip(groups, replies, strict=True):
            if isinstance(reply, Exception):
                raise reply
            rows.append(group_stats(group, reply[1:]))
        return rows


def _stats(totals: list[int], depth: int, rows: tuple[GroupStats, ...], other: OtherStats) -> Stats:
    at_ms, scheduled, leased, dead, _, servable, paused, held, all_paused, granted, starvation_ms, lapsed = totals
    return Stats(
        at_ms=at_ms,
        waiting=max(0, depth - scheduled),
        scheduled=scheduled,
        leased=leased,
        dead=dead,
        groups=len(rows) + other.groups,
        servable=servable,
        paused=paused,
        held=held,
        all_paused=bool(all_paused),
        granted=granted,
        lapsed=lapsed,
        starvation_ms=starvation_ms,
        top=rows,
        other=other,
    )
