"""A fair multi-tenant job queue on Redis or Valkey: groups take turns, each with lanes, a ceiling and levers.

It knows groups, lanes and bytes, and nothing of what the jobs mean.
"""

from __future__ import annotations

from engine.lanes.admission import Admitting, Submission
from engine.lanes.audit import Audit, Auditing, Drift
from engine.lanes.errors import (
    Admission,
    BadArgument,
    BadId,
    BadScript,
    LanesError,
    LeaseLost,
    NotReplicated,
    QueueFull,
    Reassignment,
    Verdict,
)
from engine.lanes.job import Job, Record, State
from engine.lanes.levers import Levers
from engine.lanes.observing import Observer, Observers, Unobserved
from engine.lanes.reading import Reading
from engine.lanes.stats import GroupStats, OtherStats, Stats
from engine.lanes.tending import Tending
from engine.lanes.worker import Shift, Worker, Working

__all__ = [
    "Admission",
    "Audit",
    "BadArgument",
    "BadId",
    "BadScript",
    "Drift",
    "GroupStats",
    "Job",
    "Lanes",
    "LanesError",
    "LeaseLost",
    "NotReplicated",
    "Observer",
    "Observers",
    "OtherStats",
    "QueueFull",
    "Reassignment",
    "Record",
    "Shift",
    "State",
    "Stats",
    "Submission",
    "Unobserved",
    "Verdict",
    "Worker",
]


class Lanes(Admitting, Working, Levers, Tending, Reading, Auditing):
    """One queue of lanes: all its verbs, each a coroutine named as its script is."""
