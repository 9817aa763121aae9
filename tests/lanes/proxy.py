"""A link to the server that can be broken in the ways that networks break."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from pathlib import Path
from types import TracebackType
from typing import Self


class Proxy:
    """Passes bytes between a TCP port of its own and a server's socket.

    Attributes:
        port: where clients find it.
    """

    def __init__(self, server: Path) -> None:
        self._server = server
        self._writers: set[asyncio.StreamWriter] = set()
        self._links: set[asyncio.Task[None]] = set()
        self._silent: set[asyncio.StreamWriter] = set()
        self.port = 0

    async def __aenter__(self) -> Self:
        self._listener = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._listener.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()
        for link in self._links:
            link.cancel()
        await asyncio.gather(*self._links, return_exceptions=True)

    def reset(self) -> None:
        """Reset every connection there is, as a router that lost its table does."""
        for writer in self._writers:
            raw: socket.socket = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    def silence(self) -> None:
        """Let nothing pass over the connections there are; new ones work."""
        self._silent |= self._writers

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._links.add(task)
        self._writers.add(writer)
        up_reader, up_writer = await asyncio.open_unix_connection(str(self._server))
        try:
            await asyncio.gather(self._pass(reader, up_writer, writer), self._pass(up_reader, writer, writer))
        finally:
            self._writers.discard(writer)
            self._links.discard(task)
            for each in (writer, up_writer):
                each.close()
                with contextlib.suppress(OSError):
                    await each.wait_closed()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, of: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while chunk := await reader.read(65_536):
                if of in self._silent:
                    await asyncio.Event().wait()
                writer.write(chunk)
                await writer.drain()
        writer.close()
