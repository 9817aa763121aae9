"""Compares what `QueueFull` says of the time with what then happens, under a steady load.

``python -m benchmarks.sides.eta_lanes URL GROUPS CAP JOBS_PER_S WARM_UP_MS MEASURED_MS``
"""

from __future__ import annotations

import asyncio
import itertools
import sys
import time
from collections import Counter
from dataclasses import dataclass
from typing import Final

import uvloop

from benchmarks.loads import PAYLOAD, groups
from benchmarks.process import say
from bot.redis_server import open_redis
from engine.ids import JOB, brand
from engine.lanes import Lanes, QueueFull

_TRY_AGAIN_S: Final = 0.01
_BATCH: Final = 4
_LONGEST_WAIT_S: Final = 30


@dataclass(frozen=True, slots=True)
class _Told:
    """What one refusal said: after so many more of its group's jobs have been claimed, all that waited has gone."""

    at_s: float
    group: str
    target: int
    eta_ms: int


async def main(url: str, among: int, cap: int, jobs_per_s: int, spans_ms: tuple[int, int]) -> None:
    async with open_redis(url) as redis:
        lanes = Lanes(redis, "bench")
        names = groups(among)
        for group in names:
            await lanes.cap(group, cap)
        errors = await _Steady(lanes, jobs_per_s).run(names, *spans_ms)
        if not errors:
            raise RuntimeError(f"nothing that a refusal told came true within {sum(spans_ms)} ms")
        errors.sort()
        say(median=errors[len(errors) // 2], p90=errors[len(errors) * 9 // 10], told=len(errors))


class _Steady:
    """One worker that claims at a steady rate, and producers that keep their groups full."""

    def __init__(self, lanes: Lanes, jobs_per_s: int) -> None:
        self._lanes = lanes
        self._span_s = _BATCH / jobs_per_s
        self._served: Counter[str] = Counter()
        self._open: list[_Told] = []
        self._errors: list[float] = []
        self._numbers = itertools.count()
        self._from_s = self._until_s = 0.0

    async def run(self, names: list[str], warm_up_ms: int, measured_ms: int) -> list[float]:
        """Answers by how many per cent of what happened each refusal was off."""
        self._from_s = time.monotonic() + warm_up_ms / 1000
        self._until_s = self._from_s + measured_ms / 1000
        producers = [asyncio.create_task(self._produce(group)) for group in names]
        next_s = time.monotonic()
        while (now_s := time.monotonic()) < self._until_s + _LONGEST_WAIT_S:
            if now_s >= self._until_s and not self._open:
                break
            claimed = await self._lanes.claim(_BATCH)
            self._note(Counter(job.group for job in claimed))
            await self._lanes.complete(claimed)
            next_s += self._span_s
            await asyncio.sleep(max(0, next_s - time.monotonic()))
        for producer in producers:
            producer.cancel()
        await asyncio.gather(*producers, return_exceptions=True)
        return self._errors

    def _note(self, claimed: Counter[str]) -> None:
        self._served.update(claimed)
        now_s = time.monotonic()
        for told in [told for told in self._open if self._served[told.group] >= told.target]:
            self._open.remove(told)
            took_ms = (now_s - told.at_s) * 1000
            self._errors.append(abs(told.eta_ms - took_ms) / took_ms * 100)

    async def _produce(self, group: str) -> None:
        while True:
            served = self._served[group]
            try:
                await self._lanes.enqueue(group, brand(JOB, next(self._numbers)), PAYLOAD)
            except QueueFull as full:
                if self._from_s <= (now_s := time.monotonic()) < self._until_s:
                    self._open.append(_Told(now_s, group, served + full.depth, full.eta_ms))
                await asyncio.sleep(_TRY_AGAIN_S)


if __name__ == "__main__":
    _, address, *numbers = sys.argv
    spans_ms = int(numbers[3]), int(numbers[4])
    uvloop.run(main(address, int(numbers[0]), int(numbers[1]), int(numbers[2]), spans_ms))
