"""The web side's server: uvicorn, embedded in this process's loop. It knows no signals and logs no addresses."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

import structlog
import uvicorn
from starlette.types import ASGIApp

from bot import events
from bot.errors import ListenUnusable
from bot.web.connections import Connection
from bot.web.places import split_place

MOST_CONNECTIONS: Final = 1_000
_BACKLOG: Final = 512
_KEPT_S: Final = 75  # longer than proxies keep a connection of their own
_GRACE_S: Final = 5
_LOOK_S: Final = 0.005

_log = structlog.get_logger(__name__)


class _Server(uvicorn.Server):
    """Leaves signals to ``bot.running``, and hangs up on slow heads."""

    async def on_tick(self, counter: int) -> bool:
        """Called by uvicorn ten times a second."""
        for connection in list(self.server_state.connections):
            if isinstance(connection, Connection):
                connection.tend()
        return await super().on_tick(counter)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


@asynccontextmanager
async def listening(place: str, app: ASGIApp) -> AsyncIterator[int]:
    """Serve ``app`` at ``HOST:PORT`` for as long as this lasts; gives the port. Then answers are finished first.

    Raises:
        ListenUnusable: the address can't be had.
    """
    listener = _bound(place)
    port = int(listener.getsockname()[1])
    server = _Server(_config(app))
    serving = asyncio.create_task(server.serve([listener]), name="web")
    try:
        while not server.started and not serving.done():  # noqa: ASYNC110 - uvicorn tells nobody
            await asyncio.sleep(_LOOK_S)
        _log.info(events.LISTENING, place=place, port=port)
        yield port
    finally:
        server.should_exit = True
        await asyncio.wait({serving})
        serving.result()


def _config(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        backlog=_BACKLOG,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=_KEPT_S,
        timeout_graceful_shutdown=_GRACE_S,
    )


def _bound(place: str) -> socket.socket:
    host, port = split_place(place)
    try:
        (family, kind, protocol, _, address), *_ = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise _unusable(place, error) from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise _unusable(place, error) from error
    return listener


def _unusable(place: str, error: OSError) -> ListenUnusable:
    return ListenUnusable(
        f"cannot listen on {place}: {(error.strerror or str(error)).lower()}; "
        "set CODEMOJEX_LISTEN to an address of this machine and a port that is free"
    )
