"""Wakes a parked worker of the lanes: ``python -m benchmarks.sides.wake_lanes URL JOBS``."""

from __future__ import annotations

import asyncio
import itertools
import sys

import uvloop

from benchmarks.sides.waking import had, is_worker, ready, wake_async
from bot.redis_server import open_redis
from engine.ids import JOB, ROOM, brand
from engine.lanes import Job, Lanes, Worker


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
    async def handle(jobs: list[Job]) -> None:
        for job in jobs:
            had(job.payload)

    ready()
    await Worker(lanes, handle).run(asyncio.Event())


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], int(sys.argv[2])))
