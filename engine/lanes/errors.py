"""What the lanes raise, and what the scripts' reply codes mean.

Errors::

    Exception
    ├── LanesError             root of what this package raises
    │   ├── BadArgument        an argument is out of bounds (also a ValueError); nothing was sent
    │   ├── QueueFull          a cap refused the admission
    │   ├── NotReplicated      admitted, but too few replicas have it yet: admit again
    │   ├── LeaseLost          a kept lease was lost, so its handler was stopped
    │   └── BadScript          a Lua file includes something missing, twice or in a circle
    └── ValueError
        └── BadId              (engine.ids) not a branded id, or not of the kind asked for; nothing was sent

A server that cannot be reached or refuses a command raises redis-py's own errors, unchanged.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from engine.ids import BadId

__all__ = [
    "ADMISSIONS",
    "REASSIGNMENTS",
    "VERDICTS",
    "Admission",
    "BadArgument",
    "BadId",
    "BadScript",
    "LanesError",
    "LeaseLost",
    "NotReplicated",
    "QueueFull",
    "Reassignment",
    "Verdict",
]


class LanesError(Exception):
    """The lanes refused."""


class BadArgument(LanesError, ValueError):  # noqa: N818 - pairs with BadId
    """An argument is out of bounds; nothing was sent."""

    def __init__(self, argument: str, value: object, wanted: str) -> None:
        self.argument = argument
        self.value = value
        self.wanted = wanted
        shown = repr(value)
        if len(shown) > 60:
            shown = shown[:57] + "..."
        super().__init__(f"{argument} must be {wanted}, got {shown}")


class QueueFull(LanesError):  # noqa: N818 - the design's word
    """The group or the lane has as many waiting jobs as its cap allows."""

    def __init__(self, depth: int, cap: int, eta_ms: int) -> None:
        self.depth = depth
        self.cap = cap
        self.eta_ms = eta_ms
        super().__init__(f"{depth} jobs wait and the cap is {cap}; try again in about {eta_ms} ms")


class NotReplicated(LanesError):  # noqa: N818 - says what happened
    """What was written stands on too few replicas, so a failover could lose it. To admit it again is safe."""

    def __init__(self, have: int, wanted: int, waited_ms: int) -> None:
        self.have = have
        self.wanted = wanted
        super().__init__(
            f"after {waited_ms} ms {have} of {wanted} replicas have it; mend the replicas, and admit it again"
        )


class LeaseLost(LanesError):  # noqa: N818 - says what happened
    """The leases of jobs that were running were lost: others may have them, so their handler was stopped."""

    def __init__(self, jobs: list[str]) -> None:
        self.jobs = jobs
        super().__init__(f"the leases of {len(jobs)} running jobs were lost, among them {', '.join(jobs[:3])}")


class BadScript(LanesError):  # noqa: N818 - pairs with BadArgument
    """A Lua file includes something missing, twice or in a circle."""


class Admission(StrEnum):
    """What became of a job that was handed in."""

    enqueued = "enqueued"
    """It waits in its lane."""
    duplicate = "duplicate"
    """Nothing changed: a job of this id still lives, or its dedup key is remembered."""
    scheduled = "scheduled"
    """It waits for its due time."""
    full = "full"
    """Nothing changed: a cap is reached."""


class Verdict(StrEnum):
    """What became of a settlement."""

    ok = "ok"
    """Done."""
    stale = "stale"
    """Nothing changed: no such lease lives (any more)."""
    gone = "gone"
    """The lease lived but its job's record is missing or another's; the slot is freed."""
    dead = "dead"
    """The attempts are used up: the job is in the dead set."""


class Reassignment(StrEnum):
    """What became of a job that was to be moved."""

    reassigned = "reassigned"
    """It waits in its new place."""
    noop = "noop"
    """It waited there already."""
    not_found = "not_found"
    """No job of this id lives."""
    not_pending = "not_pending"
    """It does not wait: it is scheduled, leased or dead."""
    full = "full"
    """A cap of the new place is reached."""


ADMISSIONS: Final = {1: Admission.enqueued, 2: Admission.scheduled, -1: Admission.duplicate, -2: Admission.full}
VERDICTS: Final = {1: Verdict.ok, 2: Verdict.dead, -1: Verdict.stale, -2: Verdict.gone}
REASSIGNMENTS: Final = {
    1: Reassignment.reassigned,
    2: Reassignment.noop,
    -1: Reassignment.not_found,
    -2: Reassignment.full,
    -3: Reassignment.not_pending,
}
