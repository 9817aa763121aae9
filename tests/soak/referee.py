"""Watches a soak from outside: dumps while it works, and everything while it rests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import cast

from redis.asyncio import Redis

from engine.lanes import Lanes
from tests.lanes.oracle import Oracle
from tests.soak.crew import Crew
from tests.soak.ground import CEILINGS, DOOMED, KEPT, PHASE, QUEUE, REST, RESTING, WORK, set_up
from tests.soak.ledger import Ledger

REST_TIMEOUT_S = 30
DRAIN_TIMEOUT_S = 60


class Referee:
    """Judges; what it finds goes to the ledger's breaches."""

    def __init__(self, redis: Redis, url: str) -> None:
        self._redis = redis
        self._lanes = Lanes(redis, QUEUE)
        self._oracle = Oracle(url)
        self._oracle.ceilings_move = True
        self.ledger = Ledger(redis)

    async def close(self) -> None:
        await self._oracle.close()

    async def begin(self) -> None:
        """Set levers, and let everybody work."""
        await set_up(self._lanes)
        await self._redis.delete(RESTING)
        await self._redis.set(PHASE, WORK)

    async def look(self) -> None:
        """Judge the queue as it is at this instant."""
        try:
            await self._oracle.check(QUEUE)
        except AssertionError as broken:
            await self.ledger.breach(str(broken))
            self._oracle.forget()
        await self.ledger.count("looks under load")
        for group, ceiling in CEILINGS.items():
            if (most := self._oracle.most_active.pop(group, 0)) > ceiling:
                await self.ledger.breach(f"{most} of {group} were in flight; its ceiling is {ceiling}")

    async def rest(self, crew: Crew) -> None:
        """Let everybody rest, and judge what is left; then bring all of it to its end, and judge again."""
        await self._redis.set(PHASE, REST)
        deadline_s = time.monotonic() + REST_TIMEOUT_S
        while not crew.names <= await self._resting():
            if time.monotonic() > deadline_s:
                await self.ledger.breach(f"somebody found no rest within {REST_TIMEOUT_S} s")
                break
            await asyncio.sleep(0.05)
        await self.look()
        state = await self._oracle.look(QUEUE)
        for breach in (await self.ledger.read()).breaches(state):
            await self.ledger.breach(breach)
        audit = await self._lanes.audit()
        if not audit.clean:
            await self.ledger.breach(f"an audit at rest found {audit.drift[:3]}")
        await self._drain()
        await self.ledger.begin_anew()
        await self.ledger.count("rests")

    async def _resting(self) -> set[str]:
        members = cast("Awaitable[set[bytes]]", self._redis.smembers(RESTING))
        return {name.decode() for name in await members}

    async def _drain(self) -> None:
        """Serve all there is, by no more than the verbs; then nothing may be left."""
        await self._lanes.resume_all()
        for group in KEPT + DOOMED:
            await self._lanes.resume(group)
            await self._lanes.hold(group, None)
            await self._lanes.cap(group)
        deadline_s = time.monotonic() + DRAIN_TIMEOUT_S
        while (await self._oracle.look(QUEUE)).records:
            await self._lanes.redrive(limit=1_000)
            jobs = await self._lanes.claim(1_000)
            await self.ledger.complete([job.id for job in jobs] or ["none"])
            verdicts = await self._lanes.complete(jobs)
            await self.ledger.done(job.id for job, verdict in zip(jobs, verdicts, strict=True) if verdict == "ok")
            if not jobs:
                await self._lanes.wait(100)
            if time.monotonic() > deadline_s:
                left = await self._oracle.look(QUEUE)
                await self.ledger.breach(f"{len(left.records)} jobs could not be served within {DRAIN_TIMEOUT_S} s")
                return
        state = await self._oracle.look(QUEUE)
        for breach in (await self.ledger.read()).breaches(state):
            await self.ledger.breach(f"after everything was served, {breach}")
        for group in KEPT + DOOMED:
            await self._lanes.forget(group)
        left = await self._oracle.look(QUEUE)
        if left.groups or left.glimit or left.gweight or left.gcap or left.paused or left.held:
            await self.ledger.breach(f"something is left of groups that are gone: {left}")
