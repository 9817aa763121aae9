"""A closer that is killed at one exact instant.

``python -m tests.workers.closing INSTANT REDIS_URL DATABASE_URL ROUND``
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final, Never

from redis.asyncio import Redis

from engine.game.settling import Settling
from engine.ids import ChatId, NoticeId, RoundId
from engine.store.work import SqlUnitOfWork, SqlUnits
from tests.workers.making import house

INSTANTS: Final = ("before", "after")
"""Before the commit, with everything written; after it, before anybody is told."""


def die() -> Never:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("a process outlived its SIGKILL")


class DyingUnit(SqlUnitOfWork):
    """All is written, and never committed."""

    async def commit(self) -> None:
        die()


class DyingUnits(SqlUnits):
    """Units that die as they are to be committed."""

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[SqlUnitOfWork]:
        async with super().begin() as work:
            yield DyingUnit(work._transaction, self._mint)


class DyingRelay:
    """A relay that never hands anything over."""

    async def hand_over(self, notices: Sequence[tuple[NoticeId, ChatId]]) -> None:
        del notices
        die()


async def close(instant: str, redis_url: str, database_url: str, round_: str) -> None:
    async with Redis.from_url(redis_url, decode_responses=False) as redis, house(redis, database_url) as made:
        await made.queues.settlements.claim(16, 200)
        units = DyingUnits(made.units._database, made.world.mint)
        world = replace(made.world, units=units) if instant == "before" else replace(made.world, relay=DyingRelay())
        await Settling(world).settle(RoundId(round_))


if __name__ == "__main__":
    asyncio.run(close(*sys.argv[1:]))
