"""Drains no-op jobs from the lanes: ``python -m benchmarks.drain_lanes URL JOBS GROUPS BATCH``."""

from __future__ import annotations

import asyncio
import sys
import time

import uvloop

from benchmarks.process import say
from bot.redis_server import open_redis
from engine.ids import JOB, ROOM, brand
from engine.lanes import Lanes, Submission

_AT_ONCE = 500
_LOOPS = 4


async def main(url: str, jobs: int, groups: int, batch: int) -> None:
    async with open_redis(url) as redis:
        lanes = Lanes(redis, "bench")
        for first in range(0, jobs, _AT_ONCE):
            await lanes.enqueue_many(
                [
                    Submission(group=brand(ROOM, number % groups), job_id=brand(JOB, number), payload=b"x" * 64)
                    for number in range(first, min(first + _AT_ONCE, jobs))
                ]
            )
        for group in range(groups):
            await lanes.limit(brand(ROOM, group), 1_000)
        began = time.monotonic()
        done = await asyncio.gather(*(_drain(lanes, batch) for _ in range(_LOOPS)))
        elapsed_s = time.monotonic() - began
        if sum(done) != jobs:
            raise RuntimeError(f"{sum(done)} of {jobs} jobs were done")
        say(per_s=jobs / elapsed_s)


async def _drain(lanes: Lanes, batch: int) -> int:
    done = 0
    while claimed := await lanes.claim(batch):
        for job in claimed:
            await _no_op(job.payload)
        await lanes.complete(claimed)
        done += len(claimed)
    return done


async def _no_op(payload: bytes) -> int:
    return len(payload)


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], *map(int, sys.argv[2:5])))
