"""Posts as Telegram does: over some connections, each with one post at a time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Any, Final

CONNECTIONS: Final = 64
_OK: Final = b"HTTP/1.1 200"


class Connection(asyncio.Protocol):
    """One connection of Telegram's: a post at a time."""

    def __init__(self) -> None:
        self._transport: Any = None
        self._answered: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """As the port wants it."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Note the answer; every answer comes in one piece."""
        answered = self._answered
        if answered is None or answered.done():
            return
        if data.startswith(_OK):
            answered.set_result(None)
        else:
            answered.set_exception(RuntimeError(f"the bot answered {data[:100]!r}"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail the post under way."""
        if self._answered is not None and not self._answered.done():
            self._answered.set_exception(RuntimeError(f"the bot hung up: {exc}"))

    async def post(self, what: bytes) -> None:
        """Post, and wait until that is answered 200.

        Raises:
            RuntimeError: it was answered otherwise, or not at all.
        """
        self._answered = asyncio.get_running_loop().create_future()
        self._transport.write(what)
        await self._answered


async def connect(port: int) -> list[Connection]:
    """Open ``CONNECTIONS`` connections to a bot on the loopback."""
    loop = asyncio.get_running_loop()
    return [(await loop.create_connection(Connection, "127.0.0.1", port))[1] for _ in range(CONNECTIONS)]


async def flood(connections: list[Connection], posts: Iterable[bytes]) -> None:
    """Post all of ``posts`` as fast as they are answered."""
    waiting = deque(posts)

    async def work(connection: Connection) -> None:
        while waiting:
            await connection.post(waiting.popleft())

    await asyncio.gather(*map(work, connections))
