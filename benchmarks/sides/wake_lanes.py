"""Wakes a parked worker of the lanes: ``python -m benchmarks.sides.wake_lanes URL JOBS``."""

from __future__ import annotations

import itertools
import sys
from typing import Final

import uvloop

from benchmarks.sides.waking import had, is_worker, ready, wake_async
from bot.redis_server import open_redis
from engine.ids import JOB, ROOM, brand
from engine.lanes import Lanes

_PARK_MS: Final = 4_000


async def main(url: str, jobs: int) -> None:
    async with open_redis(url) as redis:
        lanes = Lanes(redis, "bench")
        if is_worker():
            await _work(lanes)
        numbers = itertools.count()

        async def send(payload: str) -> None:
            await lanes.enqueue(brand(ROOM, 1), brand(JOB, next(numbers)), payload.encode())

        await wake_async(send, jobs)


async def _work(lanes: Lanes) -> None:
    ready()
    while True:
        claimed = await lanes.claim(32)
        for job in claimed:
            had(job.payload)
        if claimed:
            await lanes.complete(claimed)
        else:
            await lanes.wait(_PARK_MS)


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], int(sys.argv[2])))
