"""The verbs of housekeeping and of operators, looks, and what the world does; each beside the model."""

from __future__ import annotations

from engine.lanes import State as Where
from tests.lanes.agreeing import HOUR_MS, over_now
from tests.lanes.machine_ground import Ground
from tests.lanes.machine_steps import JOBS, NAMES
from tests.lanes.model_places import DEAD, LEASED, SCHEDULED, WAITING
from tests.lanes.travelling import travel


class Tending(Ground):
    """Reaps, redrives, levers, audits, and time going by."""

    # Tending

    def reap(self, limit: int) -> None:
        lapsed = over_now(self._state, self._model).lapsed[:limit]
        assert self._run(self._lanes.reap(limit)) == len(lapsed)
        self._model.reap(lapsed)

    def reap_group(self, group: str, limit: int) -> None:
        its = sorted(self._model.mine(NAMES[group], LEASED), key=lambda job: job.seq)
        lapsed = [job.id for job in its if job.until <= self._model.hour][:limit]
        assert self._run(self._lanes.reap_group(NAMES[group], limit)) == len(lapsed)
        self._model.reap(lapsed)

    def promote(self, limit: int) -> None:
        due = over_now(self._state, self._model).due[:limit]
        assert self._run(self._lanes.promote(limit)) == len(due)
        self._model.promote(due)

    def redrive(self, group: str | None, number: int | None, limit: int) -> None:
        name, job_id = group and NAMES[group], None if number is None else JOBS[number]
        dead = [entry.job for entry in self._state.dead]
        if name is not None:
            dead = sorted((job.id for job in self._model.mine(name, DEAD)), key=lambda job: self._model.jobs[job].seq)
        wanted = [job for job in dead if job_id in {None, job}]
        answer = self._run(self._lanes.redrive(name, job_id, limit))
        assert answer == self._model.redrive(wanted, limit)

    def reassign(self, pick: int, group: str, lane: str | None) -> None:
        """``pick`` counts round the living jobs, those that wait first, or is beyond all."""
        living = sorted(self._model.jobs, key=lambda job: self._model.jobs[job].where != WAITING)
        job_id = (living or JOBS)[pick % (len(living) or 1)] if pick < len(JOBS) - 1 else JOBS[-1]
        name, its_lane = NAMES[group], lane and NAMES[lane]
        answer = self._run(self._lanes.reassign(job_id, name, its_lane))
        assert answer is self._model.reassign(job_id, name, its_lane or name)

    def drain(self, group: str, lane: str | None) -> None:
        name, its_lane = NAMES[group], lane and NAMES[lane]
        assert self._run(self._lanes.drain(name, its_lane)) == self._model.drain(name, its_lane)

    def forget(self, group: str) -> None:
        assert self._run(self._lanes.forget(NAMES[group])) == self._model.forget(NAMES[group])

    # Levers

    def limit(self, group: str, n: int | None) -> None:
        self._run(self._lanes.limit(NAMES[group], n))
        self._model.group(NAMES[group]).ceiling = n
        self._model.refresh(NAMES[group])

    def weight(self, group: str, w: int | None) -> None:
        self._run(self._lanes.weight(NAMES[group], w))
        self._model.group(NAMES[group]).weight = w

    def cap(self, group: str, depth: int | None, lane_depth: int | None) -> None:
        self._run(self._lanes.cap(NAMES[group], depth, lane_depth))
        its = self._model.group(NAMES[group])
        its.cap, its.lane_cap = depth, lane_depth

    def pause(self, group: str) -> None:
        self._run(self._lanes.pause(NAMES[group]))
        self._model.group(NAMES[group]).paused = True
        self._model.refresh(NAMES[group])

    def resume(self, group: str) -> None:
        self._run(self._lanes.resume(NAMES[group]))
        self._model.group(NAMES[group]).paused = False
        self._model.refresh(NAMES[group])

    def hold(self, group: str, hours: int | None) -> None:
        self._run(self._lanes.hold(NAMES[group], hours and hours * HOUR_MS))
        self._model.group(NAMES[group]).held = hours and self._model.hour + hours
        self._model.refresh(NAMES[group])

    def pause_all(self) -> None:
        self._run(self._lanes.pause_all())
        self._model.paused = True

    def resume_all(self) -> None:
        self._run(self._lanes.resume_all())
        self._model.paused = False

    # Looks

    def audit(self, repair: bool) -> None:  # noqa: FBT001 - a step is a tuple
        before = self._run(self._oracle.raw())
        audit = self._run(self._lanes.audit(repair=repair))
        assert (audit.drift, audit.jobs) == ((), len(self._model.jobs))
        assert self._run(self._oracle.raw()) == before

    def browse(self, group: str, n: int) -> None:
        its = self._model.group(NAMES[group])
        rows = [its.lanes[lane] for lane in list(its.turn)[:n]]
        turns = [row[turn].id for turn in range(len(JOBS)) for row in rows if turn < len(row)]
        assert [record.id for record in self._run(self._lanes.browse(NAMES[group], n))] == turns[:n]
        for state, where in ((Where.scheduled, SCHEDULED), (Where.leased, LEASED), (Where.dead, DEAD)):
            mine = sorted(self._model.mine(NAMES[group], where), key=lambda job: job.seq)
            browsed = self._run(self._lanes.browse(NAMES[group], n, state))
            assert [record.id for record in browsed] == [job.id for job in mine][:n]

    def stats(self, top: int) -> None:
        model, stats = self._model, self._run(self._lanes.stats(top))
        where = [job.where for job in model.jobs.values()]
        deep = sorted((-model.depth(name), name) for name in model.groups if model.depth(name))
        assert (stats.waiting, stats.scheduled) == (where.count(WAITING), where.count(SCHEDULED))
        assert (stats.leased, stats.dead) == (where.count(LEASED), where.count(DEAD))
        assert (stats.groups, stats.servable) == (len(deep), len(model.ring))
        assert (stats.all_paused, stats.granted, stats.lapsed) == (model.paused, model.leases, model.lapses)
        assert [(-row.depth, row.group) for row in stats.top] == deep[:top]
        assert [row.in_flight for row in stats.top] == [len(model.mine(name, LEASED)) for _, name in deep[:top]]

    # The world

    def time_goes_by(self, hours: int) -> None:
        self._run(travel(self._redis, hours * HOUR_MS))
        self._model.hour += hours

    def flush_scripts(self) -> None:
        self._run(self._redis.script_flush())
