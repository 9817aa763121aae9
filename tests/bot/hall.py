"""An intake whose handlers a test writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from telegram import Update
from telegram.ext import TypeHandler

from bot.context import Context
from bot.intake import Intake, Lease
from bot.pace import Pace
from bot.pulse import Pulse
from bot.receipts import leave
from bot.taking import Taking
from engine.game.request import Receipt
from tests.bot.stage import Stage
from tests.waiting import wait_until

QUICK = Pace(look_ms=10, first_ms=1, most_ms=5, attempts=4)


@dataclass
class Hall:
    """An intake whose handlers a test writes: ``behave`` is called with each message's text, and may raise."""

    stage: Stage
    behave: Callable[[str], Awaitable[None]]
    seen: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)

    async def handle(self, update: Update, context: Context) -> None:
        del context
        text = (update.message and update.message.text) or ""
        self.seen.append(text)
        await self.behave(text)
        self.done.append(text)
        leave(Receipt.DURABLE)

    def listen(self) -> None:
        """Handle every update of the stage before its own handlers do."""
        self.stage.application.handlers[0].insert(0, TypeHandler(Update, self.handle))

    @asynccontextmanager
    async def polling(
        self, pace: Pace = QUICK, lease: Lease | None = None, pulse: Pulse | None = None
    ) -> AsyncIterator[asyncio.Event]:
        self.listen()
        stop = asyncio.Event()
        running = asyncio.create_task(
            Intake(Taking(self.stage.application, self.stage.house.units, pace), lease=lease, pulse=pulse).run(stop)
        )
        try:
            yield stop
        finally:
            stop.set()
            await asyncio.wait_for(running, 10)


async def nothing(_: str) -> None:
    pass


async def until_confirmed(stage: Stage) -> None:
    await wait_until(lambda: not stage.api.updates, "every update is confirmed")
