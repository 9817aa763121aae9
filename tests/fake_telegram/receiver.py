"""A webhook that a test answers."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class Receiver:
    """Keeps what was posted. ``answer`` says how each is answered, and may take its time."""

    answer: Callable[[dict[str, Any]], Awaitable[web.StreamResponse]]
    url: str = ""
    got: list[dict[str, Any]] = field(default_factory=list)
    secrets: list[str | None] = field(default_factory=list)
    in_flight: Counter[str] = field(default_factory=Counter)
    most_in_flight: Counter[str] = field(default_factory=Counter)

    @property
    def texts(self) -> list[str]:
        return [update["message"]["text"] for update in self.got if "message" in update]

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[Receiver]:
        application = web.Application()
        application.router.add_post("/hook", self._handle)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
        try:
            yield self
        finally:
            await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        update = await request.json()
        self.got.append(update)
        self.secrets.append(request.headers.get("X-Telegram-Bot-Api-Secret-Token"))
        lines = ["all", _line(update)]
        self.in_flight.update(lines)
        for line in lines:
            self.most_in_flight[line] = max(self.most_in_flight[line], self.in_flight[line])
        try:
            return await self.answer(update)
        finally:
            self.in_flight.subtract(lines)


def _line(update: dict[str, Any]) -> str:
    query = update.get("callback_query")
    return f"user {query['from']['id']}" if query else f"chat {update['message']['chat']['id']}"


async def ok(_: dict[str, Any]) -> web.StreamResponse:
    return web.Response()


def answering(*statuses: int, **options: Any) -> Callable[[dict[str, Any]], Awaitable[web.StreamResponse]]:
    """Answer so in turn, and then 200."""
    left = list(statuses)

    async def answer(_: dict[str, Any]) -> web.StreamResponse:
        return web.Response(status=left.pop(0), **options) if left else web.Response()

    return answer


class Gate:
    """Holds every answer until it is opened."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()

    async def __call__(self, _: dict[str, Any]) -> web.StreamResponse:
        await self.opened.wait()
        return web.Response()
