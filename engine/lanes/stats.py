"""What `stats` tells: the queue at one instant, its deepest groups, and the rest in one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GroupStats:
    """One group; 0 or None stands for what it has not."""

    group: str
    depth: int
    """Jobs that are waiting or scheduled."""
    in_flight: int
    ceiling: int | None
    weight: int
    """What a visit is worth now: the lever's weight, else the stamped one, else 1."""
    cap: int | None
    lane_cap: int | None
    paused: bool
    held_ms: int
    """How long the hold lasts yet."""
    taken: bool
    """Somebody speaks for it: `claim_group` took it off the ring."""
    unserved_ms: int | None
    """How long it has been on the ring since its last turn; None if it is not on the ring."""
    oldest_ms: int | None
    """How long the oldest job of its first 100 lanes has been in the queue; None if nothing waits."""

    @property
    def servable(self) -> bool:
        """Whether a claim could serve it now."""
        return self.unserved_ms is not None


@dataclass(frozen=True, slots=True)
class OtherStats:
    """The groups that the table has no row for."""

    groups: int
    depth: int


@dataclass(frozen=True, slots=True)
class Stats:
    """A queue. Totals but `waiting` and `groups` are of one instant; those two are counted in passes."""

    at_ms: int
    """The server's clock."""
    waiting: int
    scheduled: int
    leased: int
    dead: int
    groups: int
    """Groups with a backlog."""
    servable: int
    """Groups that can be served right now."""
    paused: int
    """Groups that are paused, with or without a backlog."""
    held: int
    all_paused: bool
    granted: int
    """Leases given since the queue began; two readings tell its rate."""
    lapsed: int
    """Leases that were reaped since the queue began: their workers died, or were too slow."""
    starvation_ms: int
    """How long the group that has waited longest for its turn has waited; 0 if none can be served."""
    top: tuple[GroupStats, ...]
    """Deepest first."""
    other: OtherStats


def group_stats(group: str, reply: Sequence[int]) -> GroupStats:
    """Read the reply of ``stats_group`` without its code."""
    depth, in_flight, ceiling, weight, stamped, cap, lane_cap, paused, held_ms, taken, ring_ms, oldest, now_us = reply
    return GroupStats(
        group=group,
        depth=depth,
        in_flight=in_flight,
        ceiling=ceiling or None,
        weight=weight or stamped or 1,
        cap=cap or None,
        lane_cap=lane_cap or None,
        paused=bool(paused),
        held_ms=held_ms,
        taken=bool(taken),
        unserved_ms=None if ring_ms < 0 else ring_ms,
        # A seq is the server's clock when the job came in, but where the clock stood still or stepped back.
        oldest_ms=max(0, now_us - oldest) // 1000 if oldest else None,
    )
