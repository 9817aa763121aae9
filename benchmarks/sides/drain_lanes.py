"""Drains no-op jobs from the lanes: ``python -m benchmarks.sides.drain_lanes URL JOBS GROUPS BATCH HANDLER``.

HANDLER is ``batch`` if one call of it has all jobs of a claim, ``job`` if each job has one.
"""

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
from engine.lanes import Job, Lanes, Shift, Worker

CEILING: Final = 64
WEIGHTS: Final = (1, 2, 3)
_AT_ONCE: Final = {"batch": 4, "job": 128}


async def main(url: str, count: int, among: int, batch: int, handler: str) -> None:
    async with open_redis(url) as redis:
        lanes = Lanes(redis, "bench")
        await fill(lanes, jobs(count, among))
        set_levers(url, "bench", groups(among), ceiling=CEILING, weights=WEIGHTS)
        shift = Shift(batch=batch, at_once=_AT_ONCE[handler], together=handler == "batch")
        began = time.monotonic()
        await _drain(lanes, shift, count)
        elapsed_s = time.monotonic() - began
        left = await lanes.claim(1)
        if left:
            raise RuntimeError(f"{left[0]} was left")
        say(per_s=count / elapsed_s)


async def _drain(lanes: Lanes, shift: Shift, count: int) -> None:
    stop = asyncio.Event()
    done = 0

    async def handle(claimed: list[Job]) -> None:
        nonlocal done
        for job in claimed:
            await _no_op(job.payload)
        done += len(claimed)
        if done == count:
            stop.set()

    await Worker(lanes, handle, shift).run(stop)
    if done != count:
        raise RuntimeError(f"{done} of {count} jobs were done")


async def _no_op(payload: bytes) -> int:
    return len(payload)


if __name__ == "__main__":
    address, *numbers, how = sys.argv[1:]
    uvloop.run(main(address, int(numbers[0]), int(numbers[1]), int(numbers[2]), how))
