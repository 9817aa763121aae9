"""Hands jobs in and waits until each is kept: ``python -m benchmarks.sides.admit_lanes URL JOBS PRODUCERS``.

One by one, so many at once, and many in a call; each way gets as many jobs as it is worth waiting for.
"""

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

_GROUPS = 100


async def main(url: str, count: int, producers: int) -> None:
    load = list(jobs(7 * count, _GROUPS))
    lone, together, bulk = load[:count], load[count : 3 * count], load[3 * count :]
    async with open_redis(url) as redis:
        lanes = Lanes(redis, "bench")
        say(
            lone_per_s=count / await _taken_s(lanes, [lone]),
            together_per_s=len(together) / await _taken_s(lanes, [together[at::producers] for at in range(producers)]),
            bulk_per_s=len(bulk) / await _filled_s(lanes, bulk),
        )


async def _taken_s(lanes: Lanes, loads: Sequence[Sequence[Submission]]) -> float:
    began = time.monotonic()
    await asyncio.gather(*(_produce(lanes, load) for load in loads))
    return time.monotonic() - began


async def _filled_s(lanes: Lanes, load: Sequence[Submission]) -> float:
    began = time.monotonic()
    await fill(lanes, load)
    return time.monotonic() - began


async def _produce(lanes: Lanes, load: Sequence[Submission]) -> None:
    for job in load:
        if await lanes.enqueue(job.group, job.job_id, job.payload) is not Admission.enqueued:
            raise RuntimeError(f"{job.job_id} was refused")


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], *map(int, sys.argv[2:4])))
