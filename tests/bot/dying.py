"""A worker that is killed at one exact instant: ``python -m tests.bot.dying INSTANT REDIS_URL DATABASE_URL``."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from typing import Final, Never

from redis.asyncio import Redis

from engine.ids import JOB, ChatId, NoticeId
from engine.lanes import Job, Lanes, Verdict
from engine.workers.adapters import GUESSES
from engine.workers.scorer import ScoreWorker
from tests.workers.making import house

INSTANTS: Final = ("committed", "completed")
"""After the commit and before the lanes know; after that, and before the answers are handed over."""

LEASE_MS: Final = 200


def die() -> Never:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("a process outlived its SIGKILL")


class Dying(Lanes):
    """Guesses whose worker dies as it says that they are done."""

    async def complete(self, jobs: Sequence[Job], cooldown_ms: int = 0) -> list[Verdict]:
        del jobs, cooldown_ms
        die()


class DyingRelay:
    """A relay that never hands anything over."""

    async def hand_over(self, notices: Sequence[tuple[NoticeId, ChatId]]) -> None:
        del notices
        die()


async def score(instant: str, redis_url: str, database_url: str) -> None:
    async with Redis.from_url(redis_url, decode_responses=False) as redis, house(redis, database_url) as made:
        guesses = Dying(redis, GUESSES, job_kind=JOB) if instant == "committed" else made.queues.guesses
        relay = DyingRelay() if instant == "completed" else made.world.relay
        jobs = await guesses.claim(10, LEASE_MS)
        await ScoreWorker(guesses, made.units, relay, made.world.clock, made.world.now_ms).handle(jobs)


if __name__ == "__main__":
    asyncio.run(score(*sys.argv[1:]))
