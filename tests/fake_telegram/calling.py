"""Calls the fake as a bot does, over HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from bot.fake_telegram import Chat, FakeTelegram


@dataclass(frozen=True)
class Answer:
    """What a call came to."""

    status: int
    body: dict[str, Any]

    @property
    def result(self) -> Any:
        assert self.status == 200, self.body
        return self.body["result"]

    @property
    def why(self) -> str:
        """The words of a refusal."""
        assert self.status != 200, self.body
        assert self.body["error_code"] == self.status
        return str(self.body["description"])


class Caller:
    """One bot's client."""

    def __init__(self, client: httpx.AsyncClient, token: str) -> None:
        self.client = client
        self.token = token

    async def __call__(self, method: str, **parameters: Any) -> Answer:
        form = {name: value if isinstance(value, str) else json.dumps(value) for name, value in parameters.items()}
        response = await self.client.post(f"/bot{self.token}/{method}", data=form)
        return Answer(response.status_code, response.json())

    async def send(self, chat: Chat, text: str = "hello", **parameters: Any) -> Answer:
        return await self("sendMessage", chat_id=chat.id, text=text, **parameters)

    async def updates(self, offset: int = 0, timeout_s: int = 0, **parameters: Any) -> list[dict[str, Any]]:
        answer = await self("getUpdates", offset=offset, timeout=timeout_s, **parameters)
        return list(answer.result)


@asynccontextmanager
async def calling(telegram: FakeTelegram) -> AsyncIterator[Caller]:
    async with httpx.AsyncClient(base_url=telegram.url, timeout=30) as client:
        yield Caller(client, telegram.token)
