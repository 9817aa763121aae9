"""The lanes and the model taking the same steps, chosen by Hypothesis; after each they agree on everything.

A step is one verb, or time going by. Time goes by hours, by taking them off whatever the server has noted down: nothing
sleeps, and a run depends on no clock. A job that nobody settles is one whose worker crashed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator
from typing import Any, ClassVar, Final, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from engine import ids
from engine.lanes import Admission, Job, Lanes, QueueFull, Submission
from engine.lanes import State as Where
from tests.lanes.agreeing import HOUR_MS, agree, agree_on, over_now
from tests.lanes.model import Leases, Model, Over
from tests.lanes.model_places import DEAD, LEASED, SCHEDULED, WAITING, ModelJob
from tests.lanes.naming import ANA, BEN, A, B, C
from tests.lanes.oracle import Oracle
from tests.lanes.state import State
from tests.lanes.travelling import travel

_T = TypeVar("_T")

NAMES: Final = {"A": A, "B": B, "C": C, "ANA": ANA, "BEN": BEN}
JOBS: Final = [ids.brand(ids.JOB, number) for number in range(1, 25)]
"""So few that one which ended often comes in again, while old leases of it are still about."""
MAX_ATTEMPTS: Final = 2

_groups = st.sampled_from(["A", "A", "A", "B", "B", "C"])
_lanes = st.sampled_from([None, "ANA", "BEN"])
_jobs = st.integers(0, len(JOBS) - 1)
_counts = st.integers(1, 6)
_hours = st.integers(1, 3)
_delays = st.sampled_from([0, 0, 0, 1, 2])
_picks = st.lists(st.integers(0, 7), min_size=1, max_size=3)
_numbers = st.sampled_from([None, 1, 2, 3])
_messages = st.sampled_from([None, None, None, None, ("message 1", 1), ("message 2", 2)])
_tickets = st.tuples(
    st.sampled_from([None, None, None, None, None, 0, 1, 2]),
    _groups,
    _lanes,
    _delays,
    _messages,
    st.sampled_from([None, None, 2, 3]),
)
Step = tuple[Any, ...]
"""A verb and what it takes, as the method of its name has it."""
Ticket = tuple[int | None, str, str | None, int, tuple[str, int] | None, int | None]


_VERBS: Final[dict[str, tuple[int, list[st.SearchStrategy[Any]]]]] = {
    "enqueue": (6, [_tickets]),
    "enqueue_many": (8, [st.lists(_tickets, max_size=6)]),
    "claim": (12, [_counts, _hours]),
    "claim_group": (6, [_counts, _hours]),
    "complete": (6, [_picks, st.sampled_from([0, 0, 1, 2])]),
    "exchange": (6, [_picks, _counts, _hours]),
    "release": (4, [_picks]),
    "retry": (
        6,
        [st.integers(0, 7), st.sampled_from([0, 0, 0, 1, 2]), st.sampled_from(["broken", "", "timed out again"])],
    ),
    "bury": (3, [st.integers(0, 7)]),
    "extend": (3, [_picks, _hours]),
    "time_goes_by": (5, [_hours]),
    "reap": (2, [_counts]),
    "reap_group": (2, [_groups, _counts]),
    "promote": (2, [_counts]),
    "redrive": (4, [st.sampled_from([None, None, "A", "B"]), st.sampled_from([None, None, None, 0, 1]), _counts]),
    "reassign": (4, [_jobs, _groups, _lanes]),
    "drain": (1, [_groups, _lanes]),
    "forget": (1, [_groups]),
    "limit": (3, [_groups, _numbers]),
    "weight": (2, [_groups, _numbers]),
    "cap": (2, [_groups, st.sampled_from([None, 1, 3, 5]), st.sampled_from([None, None, 1, 2])]),
    "pause": (2, [_groups]),
    "resume": (4, [_groups]),
    "hold": (2, [_groups, st.none() | _hours]),
    "pause_all": (1, []),
    "resume_all": (3, []),
    "audit": (1, [st.booleans()]),
    "browse": (1, [_groups, _counts]),
    "stats": (1, [st.integers(0, 3)]),
    "wait": (1, []),
    "flush_scripts": (1, []),
}
"""How often each verb comes, and with what."""
_OFTEN: Final = [verb for verb, (often, _) in _VERBS.items() for _ in range(often)]


@st.composite
def _steps(draw: st.DrawFn) -> Step:
    verb = draw(st.sampled_from(_OFTEN))
    return verb, *(draw(argument) for argument in _VERBS[verb][1])


class LanesMachine(RuleBasedStateMachine):
    """What a failure prints can be pasted into a test as it is; ``url`` must name a server of the test's own."""

    url: ClassVar[str]
    newest: ClassVar[LanesMachine]

    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.new_event_loop()
        self._redis = Redis.from_url(self.url, retry=Retry(NoBackoff(), 0))
        self._oracle = Oracle(self.url)
        self._lanes = Lanes(self._redis, "cm", max_attempts=MAX_ATTEMPTS)
        self._impatient = Lanes(self._redis, "cm", max_attempts=1)
        self._model = Model(MAX_ATTEMPTS)
        self._state = State()
        self._claimed: list[tuple[Job, int]] = []
        """Every lease ever given, oldest first, with its number in the model."""
        self._payloads = 0
        self._steps = 0
        self._turn = -1
        self.script: list[Step] = []
        """What it did so far."""

    def teardown(self) -> None:
        self._run(self._redis.aclose())
        self._run(self._oracle.close())
        self._loop.close()

    def _run(self, work: Awaitable[_T]) -> _T:
        return self._loop.run_until_complete(asyncio.ensure_future(work, loop=self._loop))

    @initialize(tickets=st.lists(_tickets, min_size=2, max_size=9))
    def begin(self, tickets: list[Ticket]) -> None:
        LanesMachine.newest = self
        self._run(self._redis.flushdb())
        self.take(("enqueue_many", tickets))

    def _agree(self) -> None:
        self._steps += 1
        self._state = self._run(self._oracle.check())
        agree(self._state, self._model, {lease: job.token for job, lease in self._claimed})
        # The state tells that of all groups; each in its turn says so itself.
        self._run(agree_on(list(NAMES.values())[self._steps % 3], self._state, self._lanes, self._model))

    @rule(step=_steps())
    def take(self, step: Step) -> None:
        self.script.append(step)
        verb, *arguments = step
        getattr(self, verb)(*arguments)
        self._agree()

    # Admission

    def _submission(self, ticket: Ticket) -> Submission:
        pick, group, lane, delay, dedup, weight = ticket
        self._payloads += 1
        if pick is None:  # the id that ended longest ago, or never was
            number = self._turn = next(
                (at % len(JOBS) for at in range(self._turn + 1, self._turn + len(JOBS)) if self._is_free(at)),
                self._turn,
            )
        else:
            number = pick
        return Submission(
            NAMES[group],
            JOBS[number],
            b"%d" % self._payloads,
            lane=lane and NAMES[lane],
            delay_ms=delay * HOUR_MS,
            dedup=dedup and dedup[0],
            dedup_ms=(dedup[1] if dedup else 1) * HOUR_MS,
            weight=weight,
        )

    def _is_free(self, at: int) -> bool:
        return JOBS[at % len(JOBS)] not in self._model.jobs

    def _admit(self, job: Submission, ticket: Ticket) -> Admission:
        _, _, _, delay, dedup, weight = ticket
        return self._model.enqueue(job.group, job.job_id, job.payload, job.lane or job.group, delay, dedup, weight)

    def enqueue(self, ticket: Ticket) -> None:
        job = self._submission(ticket)
        full = self._model.is_full(job.group, job.lane or job.group)
        expected = self._admit(job, ticket)
        told: tuple[int, int, bool] | None = None
        try:
            answer = self._run(
                self._lanes.enqueue(
                    job.group, job.job_id, job.payload, job.lane, job.delay_ms, job.dedup, job.dedup_ms, job.weight
                )
            )
        except QueueFull as error:
            answer, told = Admission.full, (error.depth, error.cap, error.eta_ms >= 1)
        assert answer is expected
        assert told == (full and (*full, True) if answer is Admission.full else None)

    def enqueue_many(self, tickets: list[Ticket]) -> None:
        jobs = [self._submission(ticket) for ticket in tickets]
        answers = self._run(self._lanes.enqueue_many(jobs))
        assert answers == [self._admit(job, ticket) for job, ticket in zip(jobs, tickets, strict=True)]

    # Claims

    def claim(self, count: int, hours: int) -> None:
        over = over_now(self._state, self._model)
        self._note(self._run(self._lanes.claim(count, hours * HOUR_MS)), self._model.claim(count, hours, over))

    def claim_one(self, hours: int) -> None:
        self.claim(1, hours)

    def claim_group(self, count: int, hours: int) -> None:
        over = over_now(self._state, self._model)
        served = self._run(self._lanes.claim_group(count, hours * HOUR_MS))
        self._note(served, self._model.claim_group(count, hours, over))

    def _note(self, served: list[Job], expected: list[ModelJob]) -> None:
        assert [(job.id, job.group, job.lane, job.payload, job.attempts) for job in served] == [
            (job.id, job.group, job.lane, job.payload, job.attempts) for job in expected
        ]
        tokens = [max((job.token for job, _ in self._claimed), default=0), *(job.token for job in served)]
        assert tokens == sorted(set(tokens)), "I4: tokens grow"
        self._claimed += [(job, other.lease) for job, other in zip(served, expected, strict=True)]

    def wait(self) -> None:
        model = self._model
        held = any(group.held is not None and group.held <= model.hour for group in model.groups.values())
        news = held or model.over(SCHEDULED) or model.over(LEASED) or (model.ring and not model.paused)
        waiting = self._lanes.wait(HOUR_MS if news else 1)
        self._run(asyncio.wait_for(waiting, 30))

    # Settlements

    def _picked(self, picks: list[int]) -> tuple[list[Job], Leases]:
        """Live leases, the newest first, then stale ones; a pick counts round."""
        live = {(job.id, job.lease) for job in self._model.jobs.values() if job.where == LEASED}
        newest = sorted(self._claimed, key=lambda pair: ((pair[0].id, pair[1]) not in live, -pair[1]))[: len(live) + 3]
        picked = [newest[pick % len(newest)] for pick in picks if newest]
        return [job for job, _ in picked], [(job.id, lease) for job, lease in picked]

    def complete(self, picks: list[int], hours: int) -> None:
        jobs, leases = self._picked(picks)
        assert self._run(self._lanes.complete(jobs, hours * HOUR_MS)) == self._model.complete(leases, hours)

    def exchange(self, picks: list[int], count: int, hours: int) -> None:
        jobs, leases = self._picked(picks)
        over = over_now(self._state, self._model)
        verdicts, served = self._run(self._lanes.exchange(jobs, count, hours * HOUR_MS))
        assert verdicts == self._model.complete(leases, 0)
        left = Over(over.due, over.holds, [job for job in over.lapsed if job in self._model.jobs])
        self._note(served, self._model.claim(count, hours, left))

    def release(self, picks: list[int]) -> None:
        jobs, leases = self._picked(picks)
        assert self._run(self._lanes.release(jobs)) == self._model.release(leases)

    def extend(self, picks: list[int], hours: int) -> None:
        jobs, leases = self._picked(picks)
        assert self._run(self._lanes.extend(jobs, hours * HOUR_MS)) == self._model.extend(leases, hours)

    def retry(self, pick: int, hours: int, error: str, most: int = MAX_ATTEMPTS) -> None:
        jobs, leases = self._picked([pick])
        lanes = self._lanes if most == MAX_ATTEMPTS else self._impatient
        for job, lease in zip(jobs, leases, strict=True):
            answer = self._run(lanes.retry(job, error, hours * HOUR_MS))
            assert answer is self._model.retry(*lease, error, hours, most)

    def bury(self, pick: int) -> None:
        self.retry(pick, 0, "no good", most=1)

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
        assert (stats.all_paused, stats.granted) == (model.paused, model.leases)
        assert [(-row.depth, row.group) for row in stats.top] == deep[:top]
        assert [row.in_flight for row in stats.top] == [len(model.mine(name, LEASED)) for _, name in deep[:top]]

    # The world

    def time_goes_by(self, hours: int) -> None:
        self._run(travel(self._redis, hours * HOUR_MS))
        self._model.hour += hours

    def flush_scripts(self) -> None:
        self._run(self._redis.script_flush())


def _fails(script: list[Step]) -> bool:
    machine = LanesMachine()
    try:
        machine.begin([])
        for step in script:
            machine.take(step)
    except Exception:  # noqa: BLE001 - any failure counts
        return True
    finally:
        machine.teardown()
    return False


def shortest(script: list[Step]) -> str:
    """Leave out of a failing script whatever it fails without, and write it so that it can be pasted into a test."""
    at = 0
    while at < len(script):
        if _fails(without := script[:at] + script[at + 1 :]):
            script = without
            continue
        verb, *arguments = script[at]
        for left in _shorter(arguments[0]) if arguments and isinstance(arguments[0], list) else ():
            if _fails(with_less := [*script[:at], (verb, left, *arguments[1:]), *script[at + 1 :]]):
                script = with_less
                break
        else:
            at += 1
    steps = [f"state.take({step!r})" for step in script]
    return "\n".join(["state = LanesMachine()", "state.begin([])", *steps, "state.teardown()"])


def _shorter(listed: list[Any]) -> Iterator[list[Any]]:
    return (listed[:at] + listed[at + 1 :] for at in range(len(listed)))
