"""A crew at work beside a test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from engine.workers.crew import Crew, CrewSettings
from engine.workers.quiet import Quiet
from tests.workers.making import House, Recorder

PACE = CrewSettings(sweep_ms=50)


@asynccontextmanager
async def at_work(product: House, messenger: Recorder, pace: CrewSettings = PACE) -> AsyncIterator[None]:
    stop = asyncio.Event()
    crew = Crew(product.world, product.queues, messenger, pace)
    running = asyncio.create_task(crew.run(stop))
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait_for(running, 10)


async def quiet(product: House, chat: int = -100) -> None:
    await asyncio.wait_for(Quiet(product.units, product.world.lanes).wait(product.request(chat=chat).place), 40)
