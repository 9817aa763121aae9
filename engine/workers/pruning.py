"""Deletes rows that nobody needs any more, in batches, each in a short transaction of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import structlog

from engine.game.ports import UnitOfWork
from engine.game.world import World
from engine.workers import events

DAY_MS: Final = 86_400_000
_BATCH: Final = 500
_BATCHES: Final = 20

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Pruning:
    """Keeps outbox and inbox short. Any number of processes may prune: none waits for another's rows.

    Args:
        world: whose tables.
        keep_said_ms: how long a notice is kept after it was made, once it is sent or dropped.
        keep_taken_ms: how long a message is remembered as taken. Telegram sends one again for up to a day.
    """

    world: World
    keep_said_ms: int
    keep_taken_ms: int

    async def once(self) -> None:
        """Delete what is too old, up to some thousand rows of each table; the next call goes on."""
        now_ms = self.world.now_ms()
        said = await self._in_batches(lambda work: work.outbox.prune(now_ms - self.keep_said_ms, _BATCH))
        taken = await self._in_batches(lambda work: work.inbox.prune(now_ms - self.keep_taken_ms, _BATCH))
        if said or taken:
            _log.info(events.PRUNED, notices=said, messages=taken)

    async def _in_batches(self, prune: Callable[[UnitOfWork], Awaitable[int]]) -> int:
        pruned = 0
        for _ in range(_BATCHES):
            async with self.world.units.begin() as work:
                count = await prune(work)
                if count:
                    await work.commit()
            pruned += count
            if count < _BATCH:
                break
        return pruned
