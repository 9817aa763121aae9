"""One connection of the web side: uvicorn's, less patient with whoever never comes to the point."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from bot.web.places import HEALTH

HEAD_S: Final = 10.0
"""How long a request's head may take to arrive, and a new connection to send one."""
LARGEST_HEAD: Final = 65_536
"""Bytes; a few hundred are usual."""
_HEALTH: Final = f"{HEALTH}/".encode()


class Connection(HttpToolsProtocol):
    """Closes itself where a request's head is endless, and is closed by ``tend`` where it is slow.

    So it is with the rest of a request that was answered before its end.

    uvicorn alone would wait and gather for ever. A timer for each head would cost as much as reading it.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_since_s: float | None = None
        self._head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        """Wait for a first head."""
        super().connection_made(transport)
        self._await_head()

    def on_message_begin(self) -> None:
        """Another head begins on a connection that was kept."""
        super().on_message_begin()
        if self._head_since_s is None:
            self._await_head()

    def on_headers_complete(self) -> None:
        """The head is here; from now on the application sees to the time.

        Past the limit of connections health is told, too: a restarter must not take a busy process for a dead one.
        """
        self._head_since_s = None
        self.limit_concurrency = None if self.url.startswith(_HEALTH) else self.config.limit_concurrency
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """What is left of a request that was answered already is read by nobody: it may take as long as a head."""
        super().on_response_complete()
        if self.cycle.response_complete and self.cycle.more_body:
            self._await_head()

    def data_received(self, data: bytes) -> None:
        """Read on, unless a head is endless."""
        super().data_received(data)
        if self._head_since_s is not None:
            self._head_bytes += len(data)
            if self._head_bytes > LARGEST_HEAD:
                self._hang_up()

    def tend(self) -> None:
        """Look whether a head has taken too long; to be called now and then."""
        if self._head_since_s is not None and self.loop.time() - self._head_since_s > HEAD_S:
            self._hang_up()

    def _await_head(self) -> None:
        self._head_bytes = 0
        self._head_since_s = self.loop.time()

    def _hang_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
