"""Hands jobs in to BullMQ's Python port, where it is installed.

``python -m benchmarks.sides.enqueue_bullmq URL JOBS PRODUCERS``
"""

from __future__ import annotations

import asyncio
import importlib
import sys
import time
from typing import Any

import redis.asyncio

from benchmarks.loads import AT_ONCE, PAYLOAD
from benchmarks.process import say

_DATA = {"x": PAYLOAD.decode()}


async def main(url: str, jobs: int, producers: int) -> None:
    async with redis.asyncio.Redis.from_url(url, decode_responses=True) as client:
        queue: Any = importlib.import_module("bullmq").Queue("bench", {"connection": client})
        await queue.add("work", _DATA)  # connects and loads its scripts
        bulk = [{"name": "work", "data": _DATA} for _ in range(AT_ONCE)]
        began = time.monotonic()
        for _ in range(jobs // AT_ONCE):
            await queue.addBulk(bulk)
        bulk_per_s = jobs // AT_ONCE * AT_ONCE / (time.monotonic() - began)

        async def produce() -> None:
            for _ in range(jobs // producers):
                await queue.add("work", _DATA)

        began = time.monotonic()
        await asyncio.gather(*(produce() for _ in range(producers)))
        say(bulk_per_s=bulk_per_s, awaited_per_s=jobs // producers * producers / (time.monotonic() - began))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], *map(int, sys.argv[2:4])))
