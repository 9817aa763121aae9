"""One leg of chaos: a ground that lives through many rounds, each with one disturbance."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import asyncpg
from redis.exceptions import RedisError

from tests.chaos.disturbances import Disturbance, Kind, Scale, choose
from tests.chaos.ground import Ground, Plan
from tests.chaos.judging import Findings, Judge
from tests.chaos.rooms import Room, Rooms, Said
from tests.chaos.watching import Watch, busy

_LOOK_S: Final = 0.05
_ROUND_S: Final = 180.0
"""Longer than any silence that the product has to sit out."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much is said in a round, and how long things last."""

    flood: int
    span_s: float
    scale: Scale
    drain_s: float


SHORT: Final = Size(60, 0.8, Scale(stop_s=2.0, outage_s=1.0, latest_s=1.6), 60.0)
LONG: Final = Size(100, 1.5, Scale(stop_s=20.0, outage_s=3.0, latest_s=3.0), 120.0)


@dataclass(frozen=True, slots=True)
class Played:
    """A round that was played; ``breaches`` begin with all that is needed to play it again."""

    kind: Kind
    name: str
    guesses: int
    took_s: float
    drain_s: float
    again: int
    refused: int
    missed: int
    breaches: list[str]


@dataclass(slots=True)
class Leg:
    """Rounds of some kinds on one ground.

    Args:
        seed: decides everything but the scheduler's moods.
        size: how much.
        ground: where.
    """

    seed: str
    size: Size
    ground: Ground
    rooms: Rooms = field(init=False)
    judge: Judge = field(init=False)

    def __post_init__(self) -> None:
        self.rooms, self.judge = Rooms(self.ground), Judge(self.ground)
        self.rooms.settle_in()

    async def play(self, number: int, kind: Kind) -> Played:
        """Play one round, within bounds."""
        chance = random.Random(f"{self.seed} {number}")  # noqa: S311 - no secret
        disturbance = choose(kind, self.ground, chance, self.size.scale)
        began_s, said = time.monotonic(), list[Said]()
        drained_s, findings = 0.0, Findings()
        try:
            async with asyncio.timeout(_ROUND_S):
                drained_s, findings = await self._play(disturbance, chance, said)
        except (TimeoutError, AssertionError, OSError, RuntimeError, RedisError, asyncpg.PostgresError) as error:
            findings.breaches.append(f"the round did not end: {type(error).__name__}: {error}")
        where = f"seed {self.seed!r}, round {number}, {disturbance.name} at {disturbance.at_s:.3f} s"
        return Played(
            kind,
            disturbance.name,
            len(said),
            time.monotonic() - began_s,
            drained_s,
            findings.again,
            findings.refused,
            findings.missed,
            [f"{where}: {breach}" for breach in findings.breaches],
        )

    async def _play(self, disturbance: Disturbance, chance: random.Random, said: list[Said]) -> tuple[float, Findings]:
        since, kills = len(self.ground.telegram.ledger.entries), self.ground.worker_kills
        logged = {name: process.size() for name, process in self.ground.processes.items()}
        await self.rooms.open()
        cracked = chance.choice(self.rooms.rooms[:-1])
        cracked.over = True
        script = self.rooms.script(chance, self.size.span_s, self.size.flood, cracked)
        async with _watching(self.ground) as watch:
            speaking = asyncio.create_task(self.rooms.say(script, said))
            await asyncio.sleep(disturbance.at_s)
            await disturbance.strike(said)
            await speaking
            began_s = time.monotonic()
            stuck = await self._drain(said, cracked)
            drained_s = time.monotonic() - began_s
        findings = await self.judge.judge(said, cracked, since, logged)
        self.judge.bound_again(findings, self.ground.worker_kills - kills)
        findings.breaches += watch.breaches
        if stuck:
            findings.breaches.insert(0, f"not drained after {self.size.drain_s:.0f} s: {stuck}")
        if not watch.looks:
            findings.breaches.append("nobody could look at the ceilings")
        return drained_s, findings

    async def _drain(self, said: list[Said], cracked: Room) -> str:
        """Wait until everything is acknowledged, scored, settled and said; answers what is not in the end."""
        deadline_s = time.monotonic() + self.size.drain_s
        left = "nothing was looked at"
        while left and time.monotonic() < deadline_s:
            await asyncio.sleep(_LOOK_S)
            self.ground.supervise()
            try:
                left = await self._left(said, cracked)
            except (OSError, RedisError, asyncpg.PostgresError) as error:
                left = f"{type(error).__name__}: {error}"
        return left

    async def _left(self, said: list[Said], cracked: Room) -> str:
        if pending := len(self.ground.telegram.pending):
            return f"{pending} updates are not acknowledged"
        (row,) = await self.ground.rows(
            "SELECT (SELECT count(*) FROM guesses WHERE (chat_ref, message_ref) IN "
            "(SELECT * FROM unnest($1::bigint[], $2::bigint[]))) AS scored, "
            "(SELECT count(*) FROM outbox WHERE sent_ms IS NULL AND dropped_ms IS NULL) AS unsent, "
            "(SELECT count(*) FROM rounds WHERE state = 'settled') AS settled, "
            "(SELECT state FROM rounds JOIN rooms ON rooms.id = rounds.room JOIN chats ON chats.id = rooms.chat "
            "WHERE chat_ref = $3 AND number = $4) AS state",
            [guess.key[0] for guess in said],
            [guess.key[1] for guess in said],
            cracked.chat.id,
            cracked.number,
        )
        if row["scored"] < len(said):
            return f"{len(said) - row['scored']} of {len(said)} guesses are not scored"
        if row["state"] != "settled":
            return f"the cracked round is {row['state']}"
        if row["unsent"]:
            return f"{row['unsent']} notices are not said"
        return await busy(self.ground)


@asynccontextmanager
async def _watching(ground: Ground) -> AsyncIterator[Watch]:
    watch = Watch(ground)
    running = asyncio.create_task(watch.run())
    try:
        yield watch
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


@asynccontextmanager
async def leg(seed: str, size: Size, plan: Plan, home: Path) -> AsyncIterator[Leg]:
    """Open a ground, and play on it."""
    async with Ground(plan, home).opened() as ground:
        yield Leg(seed, size, ground)
