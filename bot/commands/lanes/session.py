"""One operator's command: open the house beside the running program, do one thing in it, close it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import typer

from bot.commands.lanes.options import QueueName
from bot.commands.loading import loaded
from bot.logs import configure
from bot.running import Stop, run
from bot.settings import LogFormat, LogLevel
from bot.wiring import House, open_beside, running_servers
from engine.lanes import Lanes

T = TypeVar("T")


def lanes_of(house: House, queue: QueueName) -> Lanes:
    """The queue of that name."""
    queues = house.queues
    return {
        QueueName.GUESSES: queues.guesses,
        QueueName.SETTLEMENTS: queues.settlements,
        QueueName.NOTICES: queues.notices,
    }[queue]


def in_house(do: Callable[[House], Awaitable[T]], data_dir: Path | None) -> T:
    """Do one thing; a signal breaks it off."""

    async def doing(house: House, stop: Stop) -> T:
        job, stopped = asyncio.ensure_future(do(house)), asyncio.ensure_future(stop.wait())
        try:
            await asyncio.wait((job, stopped), return_when=asyncio.FIRST_COMPLETED)
            if not job.done():
                raise typer.Exit(stop.exit_code)
            return job.result()
        finally:
            for task in (job, stopped):
                task.cancel()
            await asyncio.gather(job, stopped, return_exceptions=True)

    return in_house_until(doing, data_dir)


def in_house_until(do: Callable[[House, Stop], Awaitable[T]], data_dir: Path | None) -> T:
    """Do something that ends by itself once it is asked to stop."""
    settings = loaded(data_dir)
    # Standard output is the answer's; and what a library has to say is no news to an operator.
    configure(LogLevel.WARNING, json=settings.log_format is LogFormat.JSON)
    addresses = running_servers(settings)

    async def main(stop: Stop) -> T:
        async with open_beside(settings, addresses) as house:
            return await do(house, stop)

    return run(main)
