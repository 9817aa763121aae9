"""Claimers: some finish, some fail, some stall past their leases, some vanish."""

from __future__ import annotations

import asyncio
import random

from engine.lanes import Job, Lanes, Verdict
from tests.soak.ground import LONGEST_DELAY_MS, LONGEST_LEASE_MS
from tests.soak.ledger import Ledger


class Claimer:
    """One line of a claiming process."""

    def __init__(self, lanes: Lanes, ledger: Ledger, chance: random.Random) -> None:
        self._lanes = lanes
        self._ledger = ledger
        self._chance = chance
        self._left: list[Job] = []
        """Leases that it lost sight of; it tries them again much later."""
        self._newest = 0

    async def round(self) -> None:
        """Claim, and do something with what there is."""
        chance = self._chance
        lease_ms = chance.choice((80, 400, LONGEST_LEASE_MS))
        claim = self._lanes.claim_group if chance.random() < 0.2 else self._lanes.claim
        jobs = await claim(chance.choice((1, 3, 10)), lease_ms)
        if not jobs:
            await self._lanes.wait(200)
            return
        await self._look(jobs)
        await asyncio.sleep(chance.random() * 0.01)
        await self._settle(jobs, lease_ms)

    async def _look(self, jobs: list[Job]) -> None:
        tokens = [self._newest, *(job.token for job in jobs)]
        if tokens != sorted(set(tokens)):
            await self._ledger.breach(f"tokens do not grow: {tokens}")
        self._newest = tokens[-1]
        await self._ledger.count("claimed", len(jobs))

    async def _settle(self, jobs: list[Job], lease_ms: int) -> None:
        chance = self._chance
        match chance.randrange(12):
            case 0:
                for job in jobs:
                    await self._lanes.retry(job, "broken", chance.choice((0, 0, 50, LONGEST_DELAY_MS)))
            case 1:
                await self._lanes.release(jobs)
            case 2:
                self._left += jobs
                await self._ledger.count("left to lapse", len(jobs))
            case 3:
                await asyncio.sleep(lease_ms / 1000 + 0.02)
                await self._finish(jobs)
            case 4:
                await self._lanes.extend(jobs, LONGEST_LEASE_MS)
                await self._finish(jobs)
            case 5:
                await self._exchange(jobs)
            case _:
                await self._finish(jobs, chance.choice((0, 0, 0, 30)))
        if self._left and chance.random() < 0.1:
            late, self._left = self._left, []
            await self._finish(late)

    async def _finish(self, jobs: list[Job], cooldown_ms: int = 0) -> None:
        await self._ledger.complete(job.id for job in jobs)
        await self._note(jobs, await self._lanes.complete(jobs, cooldown_ms))

    async def _exchange(self, jobs: list[Job]) -> None:
        await self._ledger.complete(job.id for job in jobs)
        verdicts, more = await self._lanes.exchange(jobs, 3, LONGEST_LEASE_MS)
        await self._note(jobs, verdicts)
        if more:
            await self._look(more)
            await self._finish(more)

    async def _note(self, jobs: list[Job], verdicts: list[Verdict]) -> None:
        done = [job.id for job, verdict in zip(jobs, verdicts, strict=True) if verdict is Verdict.ok]
        await self._ledger.done(done)
        await self._ledger.count("done", len(done))
        await self._ledger.count("stale settlements", verdicts.count(Verdict.stale))
        if Verdict.gone in verdicts:
            await self._ledger.breach("a live lease had lost its job")
