"""A Bot API over HTTP on the loopback: the terminal's chat, for whatever speaks to Telegram from another process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final
from urllib.parse import parse_qsl

from bot.terminal.api import ChatApi
from bot.terminal.chat import ClockIds, GroupChat
from bot.terminal.people import Person

TOKEN: Final = "4242:TEST-token-that-opens-nothing-at-all-00"  # noqa: S105 - of a server of the tests
BOT: Final = Person(4242, "Codemojex")
ANA: Final = Person.named("Ana")
BEN: Final = Person.named("Ben")


class TelegramServer:
    """Serves one group chat, whose admin is Ana, to whoever has the token."""

    def __init__(self) -> None:
        self.chat = GroupChat("Over HTTP", ANA, BOT, ClockIds())
        self.said: list[str] = []
        self.polls = 0
        self.url = ""
        self.chat.watch(lambda said: self.said.append(said.text) if said.by_bot else None)
        self._api = ChatApi(self.chat)
        self._writers: set[asyncio.StreamWriter] = set()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[TelegramServer]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        self.url = f"http://{host}:{port}"
        try:
            yield self
        finally:
            server.close()
            for writer in self._writers:
                writer.close()

    def count(self, text: str) -> int:
        return sum(1 for said in self.said if text in said)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                status, answer = await self._answer(head[0].split(" ")[1], body.decode())
                payload = json.dumps(answer).encode()
                writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(payload)}\r\n\r\n".encode() + payload)
                await writer.drain()

    async def _answer(self, path: str, form: str) -> tuple[int, dict[str, Any]]:
        token, _, method = path.removeprefix("/bot").partition("/")
        if token != TOKEN:
            return 401, {"ok": False, "error_code": 401, "description": "Unauthorized"}
        self.polls += method == "getUpdates"
        return await self._api.call(method, {name: _value(value) for name, value in parse_qsl(form)})


def _value(text: str) -> Any:
    return json.loads(text) if text[:1] in {"{", "["} else text
