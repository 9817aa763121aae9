"""The verbs that workers and producers use, each done by the lanes and by the model."""

from __future__ import annotations

import asyncio

from engine.lanes import Admission, Job, QueueFull, Submission
from tests.lanes.agreeing import HOUR_MS, over_now
from tests.lanes.machine_ground import Ground
from tests.lanes.machine_steps import JOBS, MAX_ATTEMPTS, NAMES, Ticket
from tests.lanes.model import Leases, Over
from tests.lanes.model_places import LEASED, SCHEDULED, ModelJob


class Working(Ground):
    """Admissions, claims, settlements."""

    def __init__(self) -> None:
        super().__init__()
        self._payloads = 0
        self._turn = -1

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
