"""Workers parked in `wait`, for tests of what wakes them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from redis.asyncio import Redis

from engine.lanes import Lanes
from tests.waiting import wait_until

LONG_MS = 4_000
SOON_S = 1.5


async def blocked(redis: Redis, count: int) -> None:
    """Return once ``count`` clients are parked at the server."""

    async def parked() -> bool:
        return int((await redis.info("clients"))["blocked_clients"]) == count

    await wait_until(parked, f"{count} workers are parked")


@asynccontextmanager
async def parked(lanes: Lanes, redis: Redis, count: int = 1) -> AsyncIterator[list[asyncio.Task[None]]]:
    """Park ``count`` workers; whoever is still parked at the end is cancelled."""
    tasks = [asyncio.create_task(_park(lanes)) for _ in range(count)]
    await blocked(redis, count)
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _park(lanes: Lanes) -> None:
    await lanes.wait(LONG_MS)


async def took_s(waiting: Coroutine[Any, Any, object]) -> float:
    began = time.monotonic()
    await waiting
    return time.monotonic() - began
