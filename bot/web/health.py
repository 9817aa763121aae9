"""``/health/live`` and ``/health/ready``: ages of what worked last, and a verdict. No secret, no name, no address.

``live``: the loop runs, and everything that began has worked within ``LIVE_MS``: each server answered, a poll was
answered or no update kept failing, each kind of worker claimed. Whoever restarts what is not live asks this.

``ready``: that, and both servers answer now, the schema is this program's, and each part has begun. A bot that
stands by for the right to poll is ready: standing by is what it is for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from bot.web.ground import Ground
from bot.web.places import HEALTH

LIVE_MS: Final = 60_000
"""Longer than a long poll, a parked worker and a pause between tries take."""

Vitals = Callable[[], Mapping[str, int | None]]
"""The ages of what a part does, in ms, each by its name; None where it has not begun."""


@dataclass(frozen=True, slots=True)
class Report:
    """One answer: the verdict, and the age of each thing that it rests on."""

    ok: bool
    ages_ms: Mapping[str, int | None]
    failing: tuple[str, ...]


class Health:
    """How this process is.

    Args:
        ground: the servers.
        parts: how many parts have to be watched before it is ready.
        live_ms: how old what worked last may be.
    """

    def __init__(self, ground: Ground, parts: int, live_ms: int = LIVE_MS) -> None:
        self._ground = ground
        self._expected = parts
        self._live_ms = live_ms
        self._parts: list[Vitals] = []
        self._ending = False

    def watch(self, vitals: Vitals) -> None:
        """Take a part in."""
        self._parts.append(vitals)

    def end(self) -> None:
        """Be ready no more."""
        self._ending = True

    def live(self) -> Report:
        """Whether it does its work, as far as that can be told without asking anybody."""
        ages = self._ages()
        old = [name for name, age_ms in ages.items() if age_ms is not None and age_ms > self._live_ms]
        return Report(not old, ages, tuple(old))

    async def ready(self) -> Report:
        """Whether it can take or do work now. Asks the servers."""
        await self._ground.ask()
        live = self.live()
        failing = {*live.failing, *(name for name, pulse in self._ground.pulses.items() if pulse.failing_ms)}
        failing |= {name for name, age_ms in live.ages_ms.items() if age_ms is None}
        if len(self._parts) < self._expected:
            failing.add("start")
        if self._ending:
            failing.add("stop")
        return Report(not failing, live.ages_ms, tuple(sorted(failing)))

    def _ages(self) -> dict[str, int | None]:
        ages = {name: pulse.age_ms for name, pulse in self._ground.pulses.items()}
        for vitals in self._parts:
            ages.update(vitals())
        return ages

    def routes(self) -> list[Route]:
        """Both questions, over HTTP."""

        async def live(_: Request) -> JSONResponse:
            return _answer(self.live())

        async def ready(_: Request) -> JSONResponse:
            return _answer(await self.ready())

        return [Route(f"{HEALTH}/live", live), Route(f"{HEALTH}/ready", ready)]


def _answer(report: Report) -> JSONResponse:
    body: dict[str, Any] = {"ok": report.ok, "failing": list(report.failing), "ages_ms": dict(report.ages_ms)}
    return JSONResponse(body, 200 if report.ok else 503, headers={"cache-control": "no-store"})
