"""Looks at the lanes while a round of chaos is played: no room may be above its ceiling, no invariant may break."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from engine.lanes import Lanes
from engine.workers.adapters import GUESSES, NOTICES, SETTLEMENTS
from tests.chaos.ground import Ground
from tests.lanes.oracle import Oracle
from tests.lanes.state import State

QUEUES: Final = (GUESSES, SETTLEMENTS, NOTICES)
_EVERY_S: Final = 0.02
_ORACLE_EVERY_S: Final = 0.7
_PATIENCE_S: Final = 2.0
_IN_FLIGHT: Final = """
return {redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2])}
"""


@dataclass(slots=True)
class Watch:
    """Runs beside a round.

    Attributes:
        breaches: what was seen that must not be.
        looks: how often the ceilings were looked at.
        most: the most that any room had in flight.
    """

    ground: Ground
    breaches: list[str] = field(default_factory=list)
    looks: int = 0
    most: int = 0

    async def run(self) -> None:
        """Look until cancelled; while the server is away there is nothing to see."""
        while True:
            with suppress(RedisError, OSError, RuntimeError):
                await self._look_on()
            await asyncio.sleep(_EVERY_S)

    async def _look_on(self) -> None:
        oracle_at_s = time.monotonic()
        async with client(self.ground) as redis:
            oracle = Oracle(self.ground.valkey.url)
            try:
                while True:
                    await self._ceilings(redis)
                    if time.monotonic() > oracle_at_s:
                        oracle_at_s = time.monotonic() + _ORACLE_EVERY_S
                        await oracle.check()
                    await asyncio.sleep(_EVERY_S)
            except AssertionError as broken:
                self.breaches.append(f"under load: {broken}")
            finally:
                await oracle.close()

    async def _ceilings(self, redis: Redis) -> None:
        # At one instant, or a settlement between two reads would look like a breach.
        active, limits = await redis.eval(_IN_FLIGHT, 2, f"emq:{{{GUESSES}}}:gactive", f"emq:{{{GUESSES}}}:glimit")
        allowed = dict(zip(limits[::2], map(int, limits[1::2]), strict=True))
        for group, count in zip(active[::2], map(int, active[1::2]), strict=True):
            self.most = max(self.most, count)
            if count > allowed.get(group, count):
                self.breaches.append(f"{count} of {group.decode()} in flight, above the ceiling {allowed[group]}")
        self.looks += 1


def client(ground: Ground) -> Redis:
    """A client past all links, which neither waits long nor tries again."""
    return Redis.from_url(ground.valkey.url, socket_timeout=_PATIENCE_S, retry=Retry(NoBackoff(), 0))


async def at_rest(ground: Ground) -> list[str]:
    """What is wrong with the lanes while nobody has anything to do."""
    found: list[str] = []
    oracle = Oracle(ground.valkey.url)
    try:
        await oracle.check()
    except AssertionError as broken:
        found.append(f"at rest: {broken}")
    finally:
        await oracle.close()
    async with client(ground) as redis:
        for queue in QUEUES:
            audit = await Lanes(redis, queue).audit()
            found += [f"the audit of {queue} found {drift}" for drift in audit.drift[:3]]
            state = await Lanes(redis, queue).stats(0)
            if state.dead:
                found.append(f"{state.dead} jobs of {queue} were given up")
    return found


async def busy(ground: Ground) -> str:
    """What is still on the lanes but deadlines of open rounds; empty where nothing is."""
    async with client(ground) as redis:
        for queue in (GUESSES, NOTICES):
            stats = await Lanes(redis, queue).stats(0)
            if stats.waiting or stats.scheduled or stats.leased:
                return f"{queue}: {stats.waiting} wait, {stats.scheduled} scheduled, {stats.leased} leased"
    return ""


async def places(ground: Ground) -> State:
    """All of the guesses' queue, for a report."""
    oracle = Oracle(ground.valkey.url)
    try:
        return await oracle.look(GUESSES)
    finally:
        await oracle.close()
