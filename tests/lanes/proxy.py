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
        server: where the server is: a unix socket, or a port on loopback; new connections go where it is now.
        port: where clients find the proxy.
    """

    def __init__(self, server: Path | int) -> None:
        self.server = server
        self._writers: set[asyncio.StreamWriter] = set()
        self._links: set[asyncio.Task[None]] = set()
        self._silent: set[asyncio.StreamWriter] = set()
        self._deaf: set[asyncio.StreamWriter] = set()
        self._babbling: dict[asyncio.StreamWriter, bytes] = {}
        self._dark = False
        self.port = 0

    async def __aenter__(self) -> Self:
        await self.listen()
        return self

    async def listen(self) -> None:
        """Take connections, at the same port as before."""
        self._listener = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._listener.sockets[0].getsockname()[1]

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
            with contextlib.suppress(OSError):  # it ends by itself just now, and has no socket any more
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    def hang_up(self) -> None:
        """Close every connection there is, as a server that shuts down does."""
        for writer in self._writers:
            writer.close()

    def refuse(self) -> None:
        """Reset every connection, and take no new ones until `listen`."""
        self._listener.close()
        self.reset()

    def silence(self) -> None:
        """Let nothing pass over the connections there are; new ones work."""
        self._silent |= self._writers

    def deafen(self) -> None:
        """Let no answer pass over the connections there are, though the server gets what is asked."""
        self._deaf |= self._writers

    def babble(self, answer: bytes) -> None:
        """Give ``answer`` to whatever is asked over the connections there are; the server hears nothing of it."""
        self._babbling |= dict.fromkeys(self._writers, answer)

    def darken(self, *, dark: bool) -> None:
        """Let nothing pass at all, over new connections either; those of a dark time stay silent after it."""
        self._dark = dark
        self.silence()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._links.add(task)
        self._writers.add(writer)
        if self._dark:
            self._silent.add(writer)
        both = [writer]
        try:
            up_reader, up_writer = await self._connect()
            both.append(up_writer)
            await asyncio.gather(self._pass(reader, up_writer, writer), self._pass(up_reader, writer, writer))
        except OSError:  # the server does not run
            pass
        except asyncio.CancelledError:  # the proxy ends; Python 3.11 would log each link that was cancelled
            pass
        finally:
            for among in (self._writers, self._silent, self._deaf):
                among.discard(writer)
            self._babbling.pop(writer, None)
            self._links.discard(task)
            for each in both:
                each.close()
                with contextlib.suppress(OSError):
                    await each.wait_closed()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self.server, Path):
            return await asyncio.open_unix_connection(str(self.server))
        return await asyncio.open_connection("127.0.0.1", self.server)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, of: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while chunk := await reader.read(65_536):
                if of in self._silent or (of in self._deaf and writer is of):
                    await asyncio.Event().wait()
                if of in self._babbling and writer is not of:
                    of.write(self._babbling[of])
                    continue
                writer.write(chunk)
                await writer.drain()
        writer.close()
