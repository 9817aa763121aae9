"""Producers: every way in, one at a time and in bulk, now and later, known messages and new ones."""

from __future__ import annotations

import asyncio
import random

from engine import ids
from engine.lanes import Admission, Lanes, QueueFull, Submission
from tests.soak.ground import DOOMED, KEPT, LANES, LONGEST_DELAY_MS
from tests.soak.ledger import Ledger


class Producer:
    """One line of a producing process.

    Args:
        lanes: the queue.
        ledger: where it notes what it does.
        chance: decides.
        line: no other line that ever lived has this number: it keeps job ids apart.
    """

    def __init__(self, lanes: Lanes, ledger: Ledger, chance: random.Random, line: int) -> None:
        self._lanes = lanes
        self._ledger = ledger
        self._chance = chance
        self._next = line << 32

    def _submission(self) -> Submission:
        chance = self._chance
        self._next += 1
        return Submission(
            chance.choice(KEPT + DOOMED),
            ids.brand(ids.JOB, self._next),
            chance.randbytes(chance.choice((0, 64, 1_000))),
            lane=chance.choice((None, *LANES)),
            delay_ms=chance.randrange(1, LONGEST_DELAY_MS) if chance.random() < 0.2 else 0,
            dedup=f"message {self._next}" if chance.random() < 0.1 else None,
            dedup_ms=1_000,
            weight=chance.randrange(1, 6) if chance.random() < 0.2 else None,
        )

    async def round(self) -> None:
        """Hand in some jobs."""
        jobs = [self._submission() for _ in range(self._chance.choice((1, 1, 5, 30)))]
        await self._ledger.hand_in(job.job_id for job in jobs)
        if len(jobs) > 1:
            answers = await self._lanes.enqueue_many(jobs)
        else:
            answers = [await self._one(jobs[0])]
        if Admission.duplicate in answers:
            await self._ledger.breach("a job that nobody had handed in was a duplicate")
        came_in = [job for job, answer in zip(jobs, answers, strict=True) if answer is not Admission.full]
        await self._ledger.admit((job.job_id, job.group) for job in came_in)
        await self._ledger.count("admitted", len(came_in))
        await self._ledger.count("refused by a cap", len(jobs) - len(came_in))
        await asyncio.sleep(self._chance.random() * (0.02 if came_in else 0.1))

    async def _one(self, job: Submission) -> Admission:
        try:
            return await self._lanes.enqueue(
                job.group, job.job_id, job.payload, job.lane, job.delay_ms, job.dedup, job.dedup_ms, job.weight
            )
        except QueueFull as full:
            if full.depth < full.cap or full.eta_ms < 1:
                await self._ledger.breach(f"refused with room: {full}")
            return Admission.full
