"""Levers: what operators set for a group.

In force at once, also for a group that has no job yet; None takes one back.
"""

from __future__ import annotations

from engine.lanes import bounds
from engine.lanes.queue import Queue


class Levers(Queue):
    """The verbs that set a group's levers. Numbers are 1 to a thousand million."""

    async def limit(self, group: str, n: int | None) -> None:
        """Let at most ``n`` jobs of the group be in flight at once. One below what is in flight parks the group."""
        await self._transport.run("limit", self._group(group), bounds.lever("n", n))

    async def weight(self, group: str, w: int | None) -> None:
        """Make a visit of the rota worth ``w`` jobs to the group, from its next visit on."""
        await self._transport.run("weight", self._group(group), bounds.lever("w", w))

    async def cap(self, group: str, depth: int | None = None, lane_depth: int | None = None) -> None:
        """Let at most ``depth`` jobs of the group, and ``lane_depth`` of each of its lanes, be waiting or scheduled.

        Binds what comes in (`enqueue`, `reassign`, `redrive`), never what comes back (`retry`, `release`, `reap`,
        `promote`). What waits beyond a lowered cap stays. Each call sets both: what is left out is taken back.
        """
        await self._transport.run(
            "cap", self._group(group), bounds.lever("depth", depth), bounds.lever("lane_depth", lane_depth)
        )

    async def pause(self, group: str) -> None:
        """Keep the group's jobs from being claimed; what is in flight goes on."""
        await self._transport.run("pause", self._group(group))

    async def resume(self, group: str) -> None:
        """End a pause, however often it was asked for."""
        await self._transport.run("resume", self._group(group))

    async def hold(self, group: str, ms: int | None) -> None:
        """Keep the group off the ring for ``ms`` from now (up to 366 days), whatever hold it had."""
        hold_ms = 0 if ms is None else bounds.ms("ms", ms, 1, bounds.MAX_DELAY_MS)
        await self._transport.run("hold", self._group(group), hold_ms)

    async def pause_all(self) -> None:
        """Keep all jobs of the queue from being claimed; delays, holds and lapsed leases still come to their ends."""
        await self._transport.run("pause_all")

    async def resume_all(self) -> None:
        """End the pause of the whole queue; groups that are paused by themselves stay so."""
        await self._transport.run("resume_all")
