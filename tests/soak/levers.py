"""Levers and tending, pulled at any moment; and whatever else befalls a server."""

from __future__ import annotations

import asyncio
import random

from redis.asyncio import Redis

from engine.lanes import Lanes
from tests.soak.ground import ACTOR, CEILINGS, DOOMED, KEPT, LANES
from tests.soak.ledger import Ledger


class Levers:
    """The one line of the process that pulls them."""

    def __init__(self, lanes: Lanes, redis: Redis, ledger: Ledger, chance: random.Random) -> None:
        self._lanes = lanes
        self._redis = redis
        self._ledger = ledger
        self._chance = chance

    async def round(self) -> None:
        """Do one thing."""
        group = self._chance.choice(KEPT + DOOMED)
        await self._chance.choice((self._pull, self._pull, self._tend, self._befall))(group)
        await self._ledger.count("levers pulled")
        await asyncio.sleep(self._chance.random() * 0.02)

    async def _pull(self, group: str) -> None:
        chance, lanes = self._chance, self._lanes
        match chance.randrange(7):
            case 0:
                await lanes.pause(group)
            case 1 | 2:
                await lanes.resume(group)
            case 3 if group not in CEILINGS:
                await lanes.limit(group, chance.choice((1, 2, 8, None)))
            case 4:
                await lanes.weight(group, chance.choice((1, 3, 8, None)))
            case 5:
                await lanes.hold(group, chance.choice((None, 20, 200)))
            case _:
                await lanes.pause_all()
                await lanes.resume_all()

    async def _tend(self, group: str) -> None:
        chance, lanes = self._chance, self._lanes
        match chance.randrange(6):
            case 0:
                await lanes.reap(chance.randrange(1, 50))
            case 1:
                await lanes.promote(chance.randrange(1, 50))
            case 2:
                await lanes.redrive(chance.choice((None, group)), limit=50)
            case 3:
                await lanes.reap_group(group)
            case 4:
                await self._move(group)
            case _:
                await self._delete(chance.choice(DOOMED))

    async def _befall(self, group: str) -> None:
        match self._chance.randrange(20):
            case 0:
                await self._redis.script_flush()
            case 1 if self._chance.random() < 0.3:
                await self._cut()
            case _:
                await self._look(group)

    async def _cut(self) -> None:
        """Cut some of the actors' connections, whatever passes over them."""
        for client in await self._redis.client_list():
            if client["name"] == ACTOR and self._chance.random() < 0.3:
                await self._redis.client_kill_filter(_id=client["id"])
        await self._ledger.count("times connections were cut")

    async def _move(self, group: str) -> None:
        """Move a waiting job, not from those that are kept to the doomed."""
        among = KEPT if group in KEPT else DOOMED
        for record in await self._lanes.browse(group, 3):
            await self._lanes.reassign(record.id, self._chance.choice(among), self._chance.choice((None, *LANES)))

    async def _delete(self, group: str) -> None:
        if self._chance.random() < 0.5:
            await self._lanes.drain(group, self._chance.choice((None, *LANES)))
        else:
            await self._lanes.forget(group)

    async def _look(self, group: str) -> None:
        await self._lanes.stats(5)
        await self._lanes.oldest(group)
        audit = await self._lanes.audit(repair=self._chance.random() < 0.5)
        await self._ledger.count("audits under load")
        if not audit.clean:
            await self._ledger.breach(f"an audit under load found {audit.drift[:3]}")
