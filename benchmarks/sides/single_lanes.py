"""Claims one job and completes it, a round trip each: ``python -m benchmarks.sides.single_lanes URL JOBS GROUPS``."""

from __future__ import annotations

import sys
import time

import uvloop

from benchmarks.loads import fill, jobs
from benchmarks.process import say
from bot.redis_server import open_redis
from engine.lanes import Lanes


async def main(url: str, count: int, among: int) -> None:
    async with open_redis(url) as redis:
        lanes = Lanes(redis, "bench")
        await fill(lanes, jobs(count, among))
        began = time.monotonic()
        for _ in range(count):
            await lanes.complete(await lanes.claim(1))
        say(per_s=count / (time.monotonic() - began))


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], *map(int, sys.argv[2:4])))
