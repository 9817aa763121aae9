"""What the lanes should do, in plain Python: the reference that the state machine compares them with.

Its time goes by hours, and only where it is told. What lapses, falls due or ends in one hour may do so in any order:
whoever looks names those things in the order in which the server has them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.lanes import Admission, Reassignment, Verdict
from tests.lanes.model_places import DEAD, LEASED, SCHEDULED, WAITING, Group, ModelJob, Places

GONE = "gone"
Leases = list[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Over:
    """What a look at the clock finds, in the server's order."""

    due: list[str]
    """Jobs."""
    holds: list[str]
    """Groups."""
    lapsed: list[str]
    """Jobs."""


class Model(Places):
    """One queue and its verbs; each does what the verb of `Lanes` of its name should do."""

    def __init__(self, max_attempts: int) -> None:
        super().__init__()
        self.max_attempts = max_attempts
        self.leases = 0
        self.lapses = 0
        self.admissions = 0
        self.dedup: dict[str, int] = {}
        """Keys, and the hour at which each is forgotten."""

    # Admission

    def enqueue(  # noqa: PLR0917 - the verb's own order
        self,
        group: str,
        job_id: str,
        payload: bytes,
        lane: str,
        hours: int,
        dedup: tuple[str, int] | None,
        weight: int | None,
    ) -> Admission:
        if job_id in self.jobs or (dedup is not None and self.dedup.get(dedup[0], 0) > self.hour):
            return Admission.duplicate
        if self.is_full(group, lane):
            return Admission.full
        if dedup is not None:
            self.dedup[dedup[0]] = self.hour + dedup[1]
        self.admissions += 1
        job = self.jobs[job_id] = ModelJob(job_id, group, lane, payload, self.admissions)
        if weight is not None:
            self.group(group).stamp = weight
        if hours:
            self.schedule(job, hours)
            return Admission.scheduled
        self.wait(job)
        self.refresh(group)
        return Admission.enqueued

    # Claims

    def claim(self, count: int, hours: int, over: Over) -> list[ModelJob]:
        self._housekeeping(over)
        served: list[ModelJob] = []
        while len(served) < count and self.ring and not self.paused:
            name = self.ring[0]
            group = self.group(name)
            if self.credit is None:
                self.credit = group.weight or group.stamp or 1
            served.append(self._lease_next(name, hours))
            self.credit -= 1
            if not self.servable(name):
                self.leave(name)
            elif self.credit == 0:
                self.ring.rotate(-1)
                self.credit = None
        return served

    def claim_group(self, count: int, hours: int, over: Over) -> list[ModelJob]:
        self._housekeeping(over)
        served: list[ModelJob] = []
        if self.ring and not self.paused:
            name = self.ring[0]
            while len(served) < count and self.servable(name):
                served.append(self._lease_next(name, hours))
            self.group(name).taken = True
            self.leave(name)
        return served

    def _lease_next(self, name: str, hours: int) -> ModelJob:
        group = self.group(name)
        lane = group.turn[0]
        group.turn.rotate(-1)
        job = group.lanes[lane][0]
        self.unwait(job)
        self.leases += 1
        job.where, job.until, job.lease = LEASED, self.hour + hours, self.leases
        job.attempts += 1
        if self.depth(name) == 0:
            group.stamp = None
        return job

    def _housekeeping(self, over: Over) -> None:
        touched = self._promote(over.due)
        for name in over.holds:
            self.group(name).held = None
            touched.append(name)
        touched += self._reap(over.lapsed)
        self._refresh_all(touched)

    def _refresh_all(self, names: Iterable[str]) -> None:
        for name in dict.fromkeys(names):
            self.refresh(name)

    def promote(self, due: Iterable[str]) -> None:
        self._refresh_all(self._promote(due))

    def _promote(self, due: Iterable[str]) -> list[str]:
        jobs = [self.jobs[job_id] for job_id in due]
        for job in jobs:
            self.wait(job)
        return [job.group for job in jobs]

    def reap(self, lapsed: Iterable[str]) -> None:
        self._refresh_all(self._reap(lapsed))

    def _reap(self, lapsed: Iterable[str]) -> list[str]:
        jobs = [self.jobs[job_id] for job_id in lapsed]
        self.lapses += len(jobs)
        for job in jobs:
            if job.attempts >= self.max_attempts:
                job.error = f"the lease of attempt {job.attempts} lapsed"
                self.end(job, DEAD)
            else:
                self.end(job, WAITING)
        return [job.group for job in jobs]

    # Settlements

    def _holds(self, job_id: str, lease: int) -> ModelJob | None:
        job = self.jobs.get(job_id)
        return job if job is not None and job.where == LEASED and job.lease == lease else None

    def extend(self, leases: Leases, hours: int) -> list[Verdict]:
        verdicts = []
        for pair in leases:
            job = self._holds(*pair)
            verdicts.append(Verdict.stale if job is None else Verdict.ok)
            if job is not None:
                job.until = self.hour + hours
        return verdicts

    def complete(self, leases: Leases, hours: int) -> list[Verdict]:
        verdicts, touched = [], []
        for pair in leases:
            job = self._holds(*pair)
            verdicts.append(Verdict.stale if job is None else Verdict.ok)
            if job is not None:
                self.end(job, GONE)
                del self.jobs[job.id]
                touched.append(job.group)
        if hours:
            for name in touched:
                self.group(name).held = max(self.group(name).held or 0, self.hour + hours)
        self._refresh_all(touched)
        return verdicts

    def release(self, leases: Leases) -> list[Verdict]:
        verdicts, touched = [], []
        for pair in leases:
            job = self._holds(*pair)
            verdicts.append(Verdict.stale if job is None else Verdict.ok)
            if job is not None:
                job.attempts -= 1
                self.end(job, WAITING)
                touched.append(job.group)
        self._refresh_all(touched)
        return verdicts

    def retry(self, job_id: str, lease: int, error: str, hours: int, most: int) -> Verdict:
        """``most`` is what the caller's lanes were told of attempts: workers may differ."""
        job = self._holds(job_id, lease)
        if job is None:
            return Verdict.stale
        job.error = error
        verdict = Verdict.ok
        if job.attempts >= most:
            self.end(job, DEAD)
            verdict = Verdict.dead
        elif hours:
            self.end(job, SCHEDULED)
            self.schedule(job, hours)
        else:
            self.end(job, WAITING)
        self.refresh(job.group)
        return verdict

    # Tending

    def redrive(self, dead: Iterable[str], limit: int) -> int:
        """Admit up to ``limit`` of ``dead`` afresh, as far as caps let them."""
        revived: list[str] = []
        for job_id in dead:
            job = self.jobs[job_id]
            if len(revived) < limit and not self.is_full(job.group, job.lane):
                self.admissions += 1
                job.seq, job.attempts, job.error = self.admissions, 0, ""
                self.wait(job)
                revived.append(job.group)
        self._refresh_all(revived)
        return len(revived)

    def reassign(self, job_id: str, group: str, lane: str) -> Reassignment:
        job = self.jobs.get(job_id)
        if job is None:
            return Reassignment.not_found
        if job.where != WAITING:
            return Reassignment.not_pending
        if (job.group, job.lane) == (group, lane):
            return Reassignment.noop
        if self.is_full(group, lane, inside=job.group == group):
            return Reassignment.full
        old = job.group
        self.unwait(job)
        job.group, job.lane = group, lane
        self.wait(job)
        self._refresh_all([old, group])
        return Reassignment.reassigned

    def drain(self, group: str, lane: str | None) -> int:
        return self._delete([job for job in self.mine(group, WAITING, SCHEDULED) if lane in {None, job.lane}], group)

    def forget(self, group: str) -> int:
        forgotten = self._delete(self.mine(group, WAITING, SCHEDULED, LEASED, DEAD), group)
        self.groups[group] = Group()
        self.refresh(group)
        return forgotten

    def _delete(self, jobs: list[ModelJob], group: str) -> int:
        for job in jobs:
            if job.where == WAITING:
                self.unwait(job)
            elif job.where == LEASED:
                self.end(job, GONE)
            del self.jobs[job.id]
        self.refresh(group)
        return len(jobs)
