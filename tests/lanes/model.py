"""What the lanes should do, in plain Python: the reference that the random walk compares them with.

Time has three values only: a thing is at once, soon (over before the next step) or not before the end of the walk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from engine.lanes import Admission, Reassignment, Verdict

NEVER_MS = 3_600_000
"""A time that does not come in a walk; anything shorter is over before the next step."""


@dataclass(slots=True)
class ModelJob:
    """A living job; ``seq`` counts admissions from 1."""

    id: str
    group: str
    lane: str
    seq: int
    attempts: int = 0
    where: str = "waiting"
    soon: bool = False
    """Scheduled or leased until before the next step."""
    lease: int = 0
    """The number of the claim that leased it: stands for the token."""


@dataclass(slots=True)
class Group:
    """A group; what it has waiting is in ``lanes``, whose order is the inner ring's."""

    lanes: dict[str, list[ModelJob]] = field(default_factory=dict)
    turn: deque[str] = field(default_factory=deque)
    active: int = 0
    scheduled: int = 0
    cap: int | None = None
    lane_cap: int | None = None
    ceiling: int | None = None
    weight: int | None = None
    stamp: int | None = None
    paused: bool = False
    held: str = ""
    """``soon`` or ``never``, whichever ends later."""
    taken: bool = False

    @property
    def depth(self) -> int:
        return self.scheduled + sum(len(jobs) for jobs in self.lanes.values())

    @property
    def servable(self) -> bool:
        full = self.ceiling is not None and self.active >= self.ceiling
        return bool(self.turn) and not (self.paused or self.held or self.taken or full)


class Model:
    """One queue."""

    def __init__(self, max_attempts: int) -> None:
        self.max_attempts = max_attempts
        self.groups: dict[str, Group] = {}
        self.ring: deque[str] = deque()
        self.jobs: dict[str, ModelJob] = {}
        self.credit: int | None = None
        """What is left of the visit to the head of the ring; None between visits."""
        self.leases = 0
        self.admissions = 0
        self.dedup: set[str] = set()
        self.paused = False
        """The whole queue."""

    def group(self, name: str) -> Group:
        return self.groups.setdefault(name, Group())

    # Admission

    def enqueue(
        self, group: str, job_id: str, lane: str, *, delay_ms: int, dedup: str | None, weight: int | None
    ) -> Admission:
        if job_id in self.jobs or dedup in self.dedup:
            return Admission.duplicate
        if self.is_full(group, lane):
            return Admission.full
        if dedup is not None:
            self.dedup.add(dedup)
        self.admissions += 1
        job = self.jobs[job_id] = ModelJob(job_id, group, lane, self.admissions)
        if weight is not None:
            self.group(group).stamp = weight
        if delay_ms:
            self._schedule(job, delay_ms)
            return Admission.scheduled
        self._wait(job)
        self.refresh(group)
        return Admission.enqueued

    def is_full(self, group: str, lane: str, *, inside: bool = False) -> bool:
        """Whether a cap keeps one job more out; ``inside``: it is in the group already, so only the lane's counts."""
        its = self.group(group)
        in_lane = sum(
            (job.group, job.lane) == (group, lane) and job.where in {"waiting", "scheduled"}
            for job in self.jobs.values()
        )
        if not inside and its.cap is not None and its.depth >= its.cap:
            return True
        return its.lane_cap is not None and in_lane >= its.lane_cap

    # Claims

    def claim(
        self, count: int, due: Iterable[str], over: Iterable[str], lapsed: Iterable[str], *, soon: bool
    ) -> list[ModelJob]:
        self._housekeeping(due, over, lapsed)
        served: list[ModelJob] = []
        while len(served) < count and self.ring and not self.paused:
            group = self.groups[self.ring[0]]
            if self.credit is None:
                self.credit = group.weight or group.stamp or 1
            served.append(self._lease_next(group, soon=soon))
            self.credit -= 1
            if not group.servable:
                self._leave(self.ring[0])
            elif self.credit == 0:
                self.ring.rotate(-1)
                self.credit = None
        return served

    def claim_group(
        self, count: int, due: Iterable[str], over: Iterable[str], lapsed: Iterable[str], *, soon: bool
    ) -> list[ModelJob]:
        self._housekeeping(due, over, lapsed)
        if not self.ring or self.paused:
            return []
        name = self.ring[0]
        group = self.groups[name]
        served: list[ModelJob] = []
        while len(served) < count and group.servable:
            served.append(self._lease_next(group, soon=soon))
        group.taken = True
        self._leave(name)
        return served

    def _lease_next(self, group: Group, *, soon: bool) -> ModelJob:
        lane = group.turn.popleft()
        job = group.lanes[lane].pop(0)
        if group.lanes[lane]:
            group.turn.append(lane)
        else:
            del group.lanes[lane]
        self.leases += 1
        job.where, job.soon, job.lease = "leased", soon, self.leases
        job.attempts += 1
        group.active += 1
        self._forget_stamp(group)
        return job

    def _housekeeping(self, due: Iterable[str], over: Iterable[str], lapsed: Iterable[str]) -> None:
        touched = self._promote(due)
        for name in over:
            self.groups[name].held = ""
            touched.append(name)
        touched += self._reap(lapsed)
        for name in touched:
            self.refresh(name)

    def promote(self, due: Iterable[str]) -> None:
        for name in self._promote(due):
            self.refresh(name)

    def _promote(self, due: Iterable[str]) -> list[str]:
        touched = []
        for job_id in due:
            job = self.jobs[job_id]
            self.groups[job.group].scheduled -= 1
            self._wait(job)
            touched.append(job.group)
        return touched

    def reap(self, lapsed: Iterable[str]) -> None:
        for name in self._reap(lapsed):
            self.refresh(name)

    def _reap(self, lapsed: Iterable[str]) -> list[str]:
        touched = []
        for job_id in lapsed:
            job = self.jobs[job_id]
            if job.attempts >= self.max_attempts:
                self._end(job, "dead")
            else:
                self._end(job, "waiting")
            touched.append(job.group)
        return touched

    # Tending

    def redrive(self, dead: Iterable[ModelJob]) -> int:
        """Admit ``dead`` afresh, as far as caps let them."""
        revived = [job for job in dead if self._revive(job)]
        for name in dict.fromkeys(job.group for job in revived):
            self.refresh(name)
        return len(revived)

    def _revive(self, job: ModelJob) -> bool:
        if self.is_full(job.group, job.lane):
            return False
        self.admissions += 1
        job.seq, job.attempts = self.admissions, 0
        self._wait(job)
        return True

    def reassign(self, job_id: str, group: str, lane: str) -> Reassignment:
        job = self.jobs.get(job_id)
        if job is None:
            return Reassignment.not_found
        if job.where != "waiting":
            return Reassignment.not_pending
        if (job.group, job.lane) == (group, lane):
            return Reassignment.noop
        if self.is_full(group, lane, inside=job.group == group):
            return Reassignment.full
        old = job.group
        self._unwait(old, job.lane, job)
        job.group, job.lane = group, lane
        self._wait(job)
        self.refresh(old)
        self.refresh(group)
        return Reassignment.reassigned

    def _unwait(self, group: str, lane: str, job: ModelJob) -> None:
        its = self.groups[group]
        its.lanes[lane].remove(job)
        if not its.lanes[lane]:
            del its.lanes[lane]
            its.turn.remove(lane)

    def drain(self, group: str, lane: str | None) -> int:
        return self._delete(group, lane, {"waiting", "scheduled"})

    def forget(self, group: str) -> int:
        forgotten = self._delete(group, None, {"waiting", "scheduled", "leased", "dead"})
        self.groups[group] = Group()
        self.refresh(group)
        return forgotten

    def _delete(self, group: str, lane: str | None, where: set[str]) -> int:
        its = self.group(group)
        mine = [
            job for job in self.jobs.values() if job.group == group and job.where in where and lane in {None, job.lane}
        ]
        for job in mine:
            if job.where == "waiting":
                self._unwait(group, job.lane, job)
            elif job.where == "scheduled":
                its.scheduled -= 1
            elif job.where == "leased":
                self._end(job, "dead")
            del self.jobs[job.id]
        self.refresh(group)
        return len(mine)

    # Settlements

    def _holds(self, job_id: str, lease: int) -> ModelJob | None:
        job = self.jobs.get(job_id)
        return job if job is not None and job.where == "leased" and job.lease == lease else None

    def extend(self, leases: list[tuple[str, int]], *, soon: bool) -> list[Verdict]:
        verdicts = []
        for job_id, lease in leases:
            job = self._holds(job_id, lease)
            verdicts.append(Verdict.stale if job is None else Verdict.ok)
            if job is not None:
                job.soon = soon
        return verdicts

    def complete(self, leases: list[tuple[str, int]], cooldown_ms: int) -> list[Verdict]:
        verdicts, touched = [], []
        for job_id, lease in leases:
            job = self._holds(job_id, lease)
            verdicts.append(Verdict.stale if job is None else Verdict.ok)
            if job is not None:
                self._end(job, "gone")
                touched.append(job.group)
        for name in dict.fromkeys(touched):
            if cooldown_ms:
                group = self.groups[name]
                group.held = "never" if cooldown_ms == NEVER_MS else group.held or "soon"
            self.refresh(name)
        return verdicts

    def release(self, leases: list[tuple[str, int]]) -> list[Verdict]:
        verdicts, touched = [], []
        for job_id, lease in leases:
            job = self._holds(job_id, lease)
            verdicts.append(Verdict.stale if job is None else Verdict.ok)
            if job is not None:
                job.attempts -= 1
                self._end(job, "waiting")
                touched.append(job.group)
        for name in dict.fromkeys(touched):
            self.refresh(name)
        return verdicts

    def retry(self, job_id: str, lease: int, delay_ms: int) -> Verdict:
        job = self._holds(job_id, lease)
        if job is None:
            return Verdict.stale
        verdict = Verdict.ok
        if job.attempts >= self.max_attempts:
            self._end(job, "dead")
            verdict = Verdict.dead
        elif delay_ms:
            self._end(job, "scheduled")
            job.soon = delay_ms != NEVER_MS
        else:
            self._end(job, "waiting")
        self.refresh(job.group)
        return verdict

    def _end(self, job: ModelJob, where: str) -> None:
        """End a lease; the job goes ``where``."""
        group = self.groups[job.group]
        group.active -= 1
        if group.active == 0:
            group.taken = False
        job.where = where
        if where == "waiting":
            self._wait(job)
        elif where == "scheduled":
            group.scheduled += 1
        elif where == "gone":
            del self.jobs[job.id]

    # Places

    def _schedule(self, job: ModelJob, delay_ms: int) -> None:
        job.where, job.soon = "scheduled", delay_ms != NEVER_MS
        self.group(job.group).scheduled += 1

    def _wait(self, job: ModelJob) -> None:
        job.where = "waiting"
        group = self.group(job.group)
        if job.lane not in group.lanes:
            group.turn.append(job.lane)
        lane = group.lanes.setdefault(job.lane, [])
        lane.append(job)
        lane.sort(key=lambda waiting: waiting.seq)

    def refresh(self, name: str) -> None:
        """Put the group on the ring, at the tail, or take it off, as its state asks."""
        group = self.group(name)
        self._forget_stamp(group)
        if group.servable and name not in self.ring:
            self.ring.append(name)
        elif not group.servable and name in self.ring:
            self._leave(name)

    def _leave(self, name: str) -> None:
        if self.ring[0] == name:
            self.credit = None
        self.ring.remove(name)

    def _forget_stamp(self, group: Group) -> None:
        if group.depth == 0:
            group.stamp = None
