"""The terminal's chat over HTTP as a Telegram that posts: one post at a time, again until it is answered 200."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from tests.cli.telegram_server import TOKEN, TelegramServer

_AGAIN_S: Final = 0.05


class PostingServer(TelegramServer):
    """Posts to whichever of ``ports`` answers, as the proxy in front of several bots would."""

    def __init__(self) -> None:
        super().__init__()
        self.ports: list[int] = []
        self.webhook: dict[str, Any] = {}
        self.told = 0
        self.statuses: list[int] = []

    @asynccontextmanager
    async def posting(self) -> AsyncIterator[PostingServer]:
        async with self.serving(), httpx.AsyncClient(timeout=30) as client:
            task = asyncio.create_task(self._post(client))
            try:
                yield self
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _post(self, client: httpx.AsyncClient) -> None:
        offset, turn = 0, 0
        while True:
            for update in await self.chat.updates.get(offset, 1, 0.05):
                status = 0
                while status != 200:
                    turn += 1
                    with suppress(httpx.TransportError, ZeroDivisionError):
                        status = await self._once(client, update, self.ports[turn % len(self.ports)])
                        self.statuses.append(status)
                    if status != 200:
                        await asyncio.sleep(_AGAIN_S)
                offset = update["update_id"] + 1

    async def _once(self, client: httpx.AsyncClient, update: dict[str, Any], port: int) -> int:
        secret = {"X-Telegram-Bot-Api-Secret-Token": self.webhook.get("secret_token", "")}
        path = urlsplit(self.webhook.get("url", "")).path
        return (await client.post(f"http://127.0.0.1:{port}{path}", json=update, headers=secret)).status_code

    async def _answer(self, path: str, form: str) -> tuple[int, dict[str, Any]]:
        method = path.rpartition("/")[2]
        if path.startswith(f"/bot{TOKEN}/") and method in {"setWebhook", "getWebhookInfo"}:
            if method == "setWebhook":
                self.webhook = dict(httpx.QueryParams(form).items())
                self.told += 1
            info = {"url": self.webhook.get("url", ""), "has_custom_certificate": False, "pending_update_count": 0}
            return 200, {"ok": True, "result": True if method == "setWebhook" else info}
        return await super()._answer(path, form)
