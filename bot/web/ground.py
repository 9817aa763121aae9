"""What every process stands on: whether Redis and the database answer, and whether the schema is this program's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog
from redis.asyncio import Redis

from bot import events
from bot.pulse import Pulse, now_ms
from engine.store.database import Database
from engine.workers.stopping import pause_unless
from migrations.run import current, head

ASK_EVERY_S: Final = 5.0
ANSWER_MS: Final = 2_000
FRESH_MS: Final = 1_000
_WIND_DOWN_S: Final = 2.0

_log = structlog.get_logger(__name__)


class Ground:
    """Asks both servers, on its own and when somebody wants to know.

    Args:
        redis: asked for a ping.
        database: asked where its schema stands.

    Attributes:
        pulses: of ``redis`` and ``database``: one that misses has answered wrongly, or not within ``ANSWER_MS``.
    """

    def __init__(self, redis: Redis, database: Database) -> None:
        self.pulses = {"redis": Pulse(), "database": Pulse()}
        self._questions: dict[str, Callable[[], Awaitable[None]]] = {
            "redis": self._ping,
            "database": self._look_at_the_schema,
        }
        self._redis = redis
        self._database = database
        self._needed = head()
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._look: asyncio.Task[None] | None = None
        self._asked_ms: int | None = None

    async def run(self, stop: asyncio.Event) -> None:
        """Ask now and then until ``stop``; what changed is logged."""
        well = True
        while not stop.is_set():
            await self.ask()
            away = sorted(name for name, pulse in self.pulses.items() if pulse.failing_ms)
            if bool(away) == well:
                well = not away
                _log.warning(events.UNHEALTHY, away=away) if away else _log.info(events.HEALTHY)
            await pause_unless(stop, ASK_EVERY_S)
        if self._asking:
            await asyncio.wait(self._asking.values(), timeout=_WIND_DOWN_S)
            for task in self._asking.values():
                task.cancel()

    async def ask(self) -> None:
        """Ask both, unless that was done just now; returns after ``ANSWER_MS`` at the latest."""
        if self._asked_ms is not None and now_ms() - self._asked_ms < FRESH_MS:
            return
        if self._look is None:
            self._look = asyncio.create_task(self._look_at_both(), name="health")
        await asyncio.wait({self._look})

    async def _look_at_both(self) -> None:
        for name in self._questions:
            if name not in self._asking:
                self._asking[name] = asyncio.create_task(self._answer(name), name=f"health: {name}")
        _, silent = await asyncio.wait(self._asking.values(), timeout=ANSWER_MS / 1_000)
        for name, task in self._asking.items():
            if task in silent:
                # It may answer yet: then its pulse beats. Until then nobody asks a second time.
                self.pulses[name].miss()
        self._asking = {name: task for name, task in self._asking.items() if task in silent}
        self._asked_ms = now_ms()
        self._look = None

    async def _answer(self, name: str) -> None:
        try:
            await self._questions[name]()
        except Exception:  # noqa: BLE001 - whatever it is, it is no good answer
            self.pulses[name].miss()
        else:
            self.pulses[name].beat()

    async def _ping(self) -> None:
        await self._redis.ping()

    async def _look_at_the_schema(self) -> None:
        found = await current(self._database)
        if found != self._needed:
            raise RuntimeError(f"the schema stands at {found}, not at {self._needed}")
