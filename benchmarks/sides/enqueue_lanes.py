"""Hands jobs in to the lanes: ``python -m benchmarks.sides.enqueue_lanes URL JOBS PRODUCERS GROUPS``."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence

import uvloop

from benchmarks.loads import fill, jobs
from benchmarks.process import say
from bot.redis_server import open_redis
from engine.lanes import Admission, Lanes, Submission


async def main(url: str, count: int, producers: int, among: int) -> None:
    async with open_redis(url) as redis:
        lanes = Lanes(redis, "bench")
        await fill(lanes, jobs(among, among))
        bulk = list(jobs(count, among, first=among))
        began = time.monotonic()
        await fill(lanes, bulk)
        bulk_s = time.monotonic() - began
        single = list(jobs(count, among, first=among + count))
        began = time.monotonic()
        await asyncio.gather(*(_produce(lanes, single[number::producers]) for number in range(producers)))
        say(bulk_per_s=count / bulk_s, awaited_per_s=count / (time.monotonic() - began))


async def _produce(lanes: Lanes, load: Sequence[Submission]) -> None:
    for job in load:
        if await lanes.enqueue(job.group, job.job_id, job.payload) is not Admission.enqueued:
            raise RuntimeError(f"{job.job_id} was refused")


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], *map(int, sys.argv[2:5])))
