"""Where the model keeps its jobs, and who is on its ring; `model` has the verbs."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

WAITING, SCHEDULED, LEASED, DEAD = "waiting", "scheduled", "leased", "dead"


@dataclass(slots=True)
class ModelJob:
    """A living job; ``seq`` counts admissions from 1."""

    id: str
    group: str
    lane: str
    payload: bytes
    seq: int
    attempts: int = 0
    where: str = WAITING
    until: int = 0
    """The hour at which it is due or its lease lapses."""
    lease: int = 0
    """The number of the claim that leased it: stands for the token."""
    error: str = ""


@dataclass(slots=True)
class Group:
    """A group; what it has waiting is in ``lanes``, whose order in ``turn`` is the inner ring's."""

    lanes: dict[str, list[ModelJob]] = field(default_factory=dict)
    turn: deque[str] = field(default_factory=deque)
    cap: int | None = None
    lane_cap: int | None = None
    ceiling: int | None = None
    weight: int | None = None
    stamp: int | None = None
    paused: bool = False
    held: int | None = None
    """The hour at which its hold ends; it lasts until somebody looks."""
    taken: bool = False


class Places:
    """Jobs, groups, rings."""

    def __init__(self) -> None:
        self.hour = 0
        self.groups: dict[str, Group] = {}
        self.ring: deque[str] = deque()
        self.jobs: dict[str, ModelJob] = {}
        self.credit: int | None = None
        """What is left of the visit to the head of the ring; None between visits."""
        self.paused = False
        """The whole queue."""

    def group(self, name: str) -> Group:
        return self.groups.setdefault(name, Group())

    def mine(self, group: str, *where: str) -> list[ModelJob]:
        """The group's jobs that are in one of those states."""
        return [job for job in self.jobs.values() if job.group == group and job.where in where]

    def over(self, where: str) -> set[str]:
        """The jobs whose due time or deadline has come."""
        return {job.id for job in self.jobs.values() if job.where == where and job.until <= self.hour}

    def depth(self, group: str) -> int:
        return len(self.mine(group, WAITING, SCHEDULED))

    def oldest(self, group: str) -> ModelJob | None:
        return min(self.mine(group, WAITING, SCHEDULED, LEASED), key=lambda job: job.seq, default=None)

    def servable(self, name: str) -> bool:
        group = self.group(name)
        full = group.ceiling is not None and len(self.mine(name, LEASED)) >= group.ceiling
        return bool(group.turn) and not (group.paused or group.held is not None or group.taken or full)

    def is_full(self, group: str, lane: str, *, inside: bool = False) -> tuple[int, int] | None:
        """Depth and cap where a cap keeps one job more out; one that is ``inside`` already is new to its lane alone."""
        its, deep = self.group(group), self.mine(group, WAITING, SCHEDULED)
        if not inside and its.cap is not None and len(deep) >= its.cap:
            return len(deep), its.cap
        in_lane = sum(job.lane == lane for job in deep)
        if its.lane_cap is not None and in_lane >= its.lane_cap:
            return in_lane, its.lane_cap
        return None

    def wait(self, job: ModelJob) -> None:
        """Put the job into its lane, where its seq wants it."""
        job.where = WAITING
        group = self.group(job.group)
        if job.lane not in group.lanes:
            group.turn.append(job.lane)
        lane = group.lanes.setdefault(job.lane, [])
        lane.append(job)
        lane.sort(key=lambda waiting: waiting.seq)

    def unwait(self, job: ModelJob) -> None:
        """Take the job out of its lane."""
        group = self.group(job.group)
        group.lanes[job.lane].remove(job)
        if not group.lanes[job.lane]:
            del group.lanes[job.lane]
            group.turn.remove(job.lane)

    def schedule(self, job: ModelJob, hours: int) -> None:
        job.where, job.until = SCHEDULED, self.hour + hours

    def end(self, job: ModelJob, where: str) -> None:
        """End a lease; the job goes ``where``, or nowhere."""
        job.where = where
        if not self.mine(job.group, LEASED):
            self.group(job.group).taken = False
        if where == WAITING:
            self.wait(job)

    def refresh(self, name: str) -> None:
        """Put the group on the ring, at the tail, or take it off, as its state asks."""
        if self.depth(name) == 0:
            self.group(name).stamp = None
        if self.servable(name) and name not in self.ring:
            self.ring.append(name)
        elif not self.servable(name) and name in self.ring:
            self.leave(name)

    def leave(self, name: str) -> None:
        """Take the group off the ring; a visit to it ends."""
        if self.ring[0] == name:
            self.credit = None
        self.ring.remove(name)
