"""What stands in front of bots that take posts: one address, and each connection goes to one of those that answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

_CHUNK = 1 << 16


class Door:
    """Leads to ``ports``, in turn."""

    def __init__(self) -> None:
        self.ports: list[int] = []
        self.url = ""
        self._turn = 0
        self._links: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Door]:
        server = await asyncio.start_server(self._lead, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/telegram"
        try:
            yield self
        finally:
            server.close()
            for link in self._links:
                link.cancel()
            await asyncio.gather(*self._links, return_exceptions=True)

    async def _lead(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = asyncio.current_task()
        assert link is not None
        self._links.add(link)
        try:
            for _ in self.ports:
                self._turn += 1
                with suppress(OSError):
                    there = await asyncio.open_connection("127.0.0.1", self.ports[self._turn % len(self.ports)])
                    await asyncio.gather(_carry(reader, there[1]), _carry(there[0], writer))
                    return
        finally:
            writer.close()
            self._links.discard(link)


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await reader.read(_CHUNK):
            writer.write(chunk)
            await writer.drain()
    writer.close()
