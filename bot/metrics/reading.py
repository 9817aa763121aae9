"""What the queues say of themselves, read when somebody asks, and not more often than every few seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from bot.pulse import now_ms
from engine.lanes import Lanes, Stats

TOP: Final = 10
"""Groups of a queue that have series of their own, the deepest ones."""
FRESH_MS: Final = 5_000
ANSWER_MS: Final = 2_000
_WIND_DOWN_S: Final = 2.0


class Readings:
    """Reads the queues, once for all who ask meanwhile.

    Args:
        queues: which.
        top: how many groups of each are told apart.
        fresh_ms: how old a reading may be before the queue is asked again.
        answer_ms: how long the servers may take; what comes later counts for the next who asks.
    """

    def __init__(
        self, queues: Sequence[Lanes], *, top: int = TOP, fresh_ms: int = FRESH_MS, answer_ms: int = ANSWER_MS
    ) -> None:
        self._queues = {lanes.queue: lanes for lanes in queues}
        self._top = top
        self._fresh_ms = fresh_ms
        self._answer_ms = answer_ms
        self._read: dict[str, tuple[int, Stats]] = {}
        self._reading: dict[str, asyncio.Task[None]] = {}

    async def look(self) -> Mapping[str, Stats | None]:
        """What each queue says, no longer ago than ``fresh_ms``; None where it says nothing. Never raises.

        Returns after ``answer_ms`` at the latest.
        """
        for queue in self._queues:
            # A question that is under way is not asked a second time: a silent server must not gather them.
            if queue not in self._reading and not self._is_fresh(queue):
                self._read.pop(queue, None)
                self._reading[queue] = asyncio.create_task(self._ask(queue), name=f"metrics: {queue}")
        if self._reading:
            await asyncio.wait(self._reading.values(), timeout=self._answer_ms / 1_000)
        return {queue: self._read[queue][1] if queue in self._read else None for queue in self._queues}

    async def end(self) -> None:
        """Stop what is under way."""
        tasks = list(self._reading.values())
        if tasks:
            await asyncio.wait(tasks, timeout=_WIND_DOWN_S)
            for task in tasks:
                task.cancel()

    def _is_fresh(self, queue: str) -> bool:
        return queue in self._read and now_ms() - self._read[queue][0] < self._fresh_ms

    async def _ask(self, queue: str) -> None:
        asked_ms = now_ms()
        try:
            self._read[queue] = asked_ms, await self._queues[queue].stats(self._top)
        except Exception:  # noqa: BLE001, S110 - whatever it is, there is no reading
            pass  # who works with the server logs why
        finally:
            self._reading.pop(queue, None)
