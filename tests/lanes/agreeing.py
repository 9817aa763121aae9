"""Whether what the server holds, and what the lanes say of it, is what the model says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from engine.lanes import Lanes
from tests.lanes.model import Model, Over
from tests.lanes.model_places import DEAD, LEASED, SCHEDULED, WAITING, ModelJob
from tests.lanes.state import Entry, State

HOUR_MS: Final = 3_600_000
"""The model's unit of time: far longer than any run takes."""


def hours_left(score_ms: int, state: State) -> int:
    """How many hours yet, counting the one in progress: a run takes no whole one."""
    return -((state.now_us // 1000 - score_ms) // HOUR_MS)


def over_now(state: State, model: Model) -> Over:
    """What the clock has ended, in the server's order; the model must say the same."""
    over = Over(
        [entry.job for entry in state.schedule if hours_left(entry.score, state) <= 0],
        [group for group, until_ms in state.held.items() if hours_left(until_ms, state) <= 0],
        [entry.job for entry in state.leases if hours_left(entry.score, state) <= 0],
    )
    assert set(over.due) == model.over(SCHEDULED)
    assert set(over.lapsed) == model.over(LEASED)
    assert set(over.holds) == {
        name for name, group in model.groups.items() if group.held is not None and group.held <= model.hour
    }
    return over


def agree(state: State, model: Model, tokens: Mapping[int, int]) -> None:
    """Fail if anything that the server holds differs from the model; ``tokens`` stands for each of its leases."""
    _rings_agree(state, model)
    _jobs_agree(state, model, tokens)
    _levers_agree(state, model)


async def agree_on(name: str, state: State, lanes: Lanes, model: Model) -> None:
    """Fail if the lanes tell of a group, or of its oldest job, what differs from the model."""
    oldest = model.oldest(name)
    assert await lanes.depth(name) == model.depth(name)
    assert await lanes.oldest(name) == (None if oldest is None else _seqs(state)[oldest.id])
    dead = model.mine(name, DEAD)
    for job in [*dead[-1:], *([oldest] if oldest else [])]:
        await _record_agrees(lanes, job)


def _rings_agree(state: State, model: Model) -> None:
    assert state.ring == list(model.ring)
    assert state.inner == {name: list(group.turn) for name, group in model.groups.items() if group.turn}
    credit = state.counters.get("credit")
    assert (None if credit is None else int(credit)) == model.credit
    assert state.taken == {name for name, group in model.groups.items() if group.taken}


def _jobs_agree(state: State, model: Model, tokens: Mapping[int, int]) -> None:
    assert {place: [job for job, _ in jobs] for place, jobs in state.waiting.items()} == {
        (name, lane): [job.id for job in jobs]
        for name, group in model.groups.items()
        for lane, jobs in group.lanes.items()
    }
    by_place = {
        where: [job for job in model.jobs.values() if job.where == where] for where in (SCHEDULED, LEASED, DEAD)
    }
    assert _told(state.dead) == {(job.id, job.group, job.lane) for job in by_place[DEAD]}
    for entries, where in ((state.schedule, SCHEDULED), (state.leases, LEASED)):
        assert _told(entries) == {(job.id, job.group, job.lane) for job in by_place[where]}
        assert {entry.job: max(0, hours_left(entry.score, state)) for entry in entries} == {
            job.id: max(0, job.until - model.hour) for job in by_place[where]
        }
    leases = {(entry.job, entry.token, int(entry.member[74:])) for entry in state.leases}
    assert leases == {(job.id, tokens[job.lease], job.attempts) for job in by_place[LEASED]}
    seqs = _seqs(state)
    assert sorted(seqs, key=seqs.__getitem__) == sorted(model.jobs, key=lambda job: model.jobs[job].seq)


def _told(entries: list[Entry]) -> set[tuple[str, str, str]]:
    return {(entry.job, entry.group, entry.lane) for entry in entries}


def _seqs(state: State) -> dict[str, int]:
    seqs = {entry.job: entry.seq for entry in (*state.leases, *state.schedule, *state.dead)}
    seqs.update(pair for jobs in state.waiting.values() for pair in jobs)
    return seqs


def _levers_agree(state: State, model: Model) -> None:
    groups = model.groups.items()
    assert state.glimit == {name: group.ceiling for name, group in groups if group.ceiling}
    assert state.gweight == {name: group.weight for name, group in groups if group.weight}
    assert state.gstamp == {name: group.stamp for name, group in groups if group.stamp}
    caps = {name: (group.cap, group.lane_cap) for name, group in groups if group.cap or group.lane_cap}
    assert {name: _cap(text) for name, text in state.gcap.items()} == caps
    assert state.paused == {name for name, group in groups if group.paused}
    held = {name: max(0, hours_left(until_ms, state)) for name, until_ms in state.held.items()}
    assert held == {name: max(0, group.held - model.hour) for name, group in groups if group.held is not None}
    assert ("paused" in state.counters) == model.paused
    assert set(state.dedup) == {key for key, until in model.dedup.items() if until > model.hour}


def _cap(text: str) -> tuple[int | None, int | None]:
    depth, _, lane_depth = text.partition("/")
    return int(depth or 0) or None, int(lane_depth or 0) or None


async def _record_agrees(lanes: Lanes, job: ModelJob) -> None:
    record = await lanes.job(job.id)
    assert record is not None
    assert (record.group, record.lane, record.payload, record.attempts) == (
        job.group,
        job.lane,
        job.payload,
        job.attempts,
    )
    assert (record.state, record.error) == (job.where, job.error)
    assert (record.at_ms == 0) == (job.where == WAITING)
