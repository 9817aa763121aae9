"""Drains no-op jobs from the lanes: ``python -m benchmarks.sides.drain_lanes URL JOBS GROUPS BATCH``."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Final

import uvloop

from benchmarks.bare import set_levers
from benchmarks.loads import fill, groups, jobs
from benchmarks.process import say
from bot.redis_server import open_redis
from engine.lanes import Lanes

_LOOPS: Final = 4
CEILING: Final = 64
WEIGHTS: Final = (1, 2, 3)


async def main(url: str, count: int, among: int, batch: int) -> None:
    async with open_redis(url) as redis:
        lanes = Lanes(redis, "bench")
        await fill(lanes, jobs(count, among))
        set_levers(url, "bench", groups(among), ceiling=CEILING, weights=WEIGHTS)
        began = time.monotonic()
        done = await asyncio.gather(*(_drain(lanes, batch) for _ in range(_LOOPS)))
        elapsed_s = time.monotonic() - began
        if sum(done) != count:
            raise RuntimeError(f"{sum(done)} of {count} jobs were done")
        say(per_s=count / elapsed_s)


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
