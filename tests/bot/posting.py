"""Telegram's side of a webhook: posts over real HTTP to a bot that listens on the loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import httpx
from starlette.routing import Route, Router

from bot.pace import Pace
from bot.taking import Taking
from bot.web.places import Webhook
from bot.web.server import listening
from bot.web.webhook import WebhookEndpoint
from tests.bot.stage import Stage

SECRET: Final = "a-secret_between-two"  # noqa: S105 - of the tests
WEBHOOK: Final = Webhook("https://bot.example.org/telegram", SECRET, 40)
HEADERS: Final = {"X-Telegram-Bot-Api-Secret-Token": SECRET, "Content-Type": "application/json"}


@dataclass
class Porch:
    """A bot's endpoint, and a client in front of it."""

    endpoint: WebhookEndpoint
    taking: Taking
    port: int
    client: httpx.AsyncClient

    async def post(self, update: Any, **headers: str) -> httpx.Response:
        """Post an update as Telegram does; headers are named with underscores, an empty one is left out."""
        content = update if isinstance(update, bytes) else json.dumps(update).encode()
        changed = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in (HEADERS | changed).items() if value}
        return await self.client.post("/telegram", content=content, headers=sent)

    async def raw(self, *chunks: bytes, whole: bool = True) -> bytes:
        """Send bytes on a connection of their own and read until the bot hangs up."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            for chunk in chunks:
                writer.write(chunk)
                await writer.drain()
            if whole:
                writer.write_eof()
            return await reader.read()
        except ConnectionError:
            return b""
        finally:
            writer.close()


@asynccontextmanager
async def porch(stage: Stage, pace: Pace | None = None) -> AsyncIterator[Porch]:
    """An endpoint of ``stage`` that takes posts at once."""
    endpoint = WebhookEndpoint(WEBHOOK)
    taking = Taking(stage.application, stage.house.units, pace)
    endpoint.open(taking)
    app = Router([Route(WEBHOOK.path, endpoint)], redirect_slashes=False)
    async with (
        listening("127.0.0.1:0", app) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as client,
    ):
        try:
            yield Porch(endpoint, taking, port, client)
        finally:
            await endpoint.close()
