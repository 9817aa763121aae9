"""One keep-alive connection over which updates are posted: far leaner than a client that can do everything."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from typing import Final, cast
from urllib.parse import SplitResult, urlsplit

_PORT_OF: Final = {"http": 80, "https": 443}
_HEAD_END: Final = b"\r\n\r\n"
_LAST_CHUNK: Final = b"0\r\n\r\n"
_SIZES: Final = (b"content-length", b"transfer-encoding")
_WITHOUT_BODY: Final = frozenset({204, 304})
_LONGEST: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Reply:
    """How a webhook answered."""

    status: int
    retry_after_s: int = 0

    @property
    def is_success(self) -> bool:
        """Whether the update is confirmed by it."""
        return 200 <= self.status < 300


class _Replies(asyncio.Protocol):
    """Reads one reply at a time; what a reply says matters less than where it ends."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._due_s = 0.0
        self._watch: asyncio.TimerHandle | None = None
        self._read = bytearray()
        self._waiting: asyncio.Future[Reply] | None = None
        self._transport: asyncio.Transport | None = None
        self.open = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.open = True

    def connection_lost(self, exc: Exception | None) -> None:
        self.open = False
        if self._watch is not None:
            self._watch.cancel()
        if self._waiting is not None and not self._waiting.done():
            head, end, _ = bytes(self._read).partition(_HEAD_END)
            if end and not any(_header(head.lower(), name) for name in _SIZES):
                self._waiting.set_result(_reply(head))  # a body that ends with its connection
            else:
                self._waiting.set_exception(exc or ConnectionResetError("Webhook connection closed"))

    def data_received(self, data: bytes) -> None:
        self._read += data
        waiting = self._waiting
        if waiting is None or waiting.done():
            self.close()
            return
        end = self._read.find(_HEAD_END)
        if len(self._read) > _LONGEST:
            self.close()
        if end < 0:
            return
        head = bytes(self._read[:end]).lower()
        if self._is_whole(head, end + len(_HEAD_END)):
            if b"connection: close" in head:
                self.close()
            waiting.set_result(_reply(head))

    def send(self, request: bytes) -> asyncio.Future[Reply]:
        """Write a request; answers its reply."""
        if self._transport is None:
            raise ConnectionResetError("not connected")
        loop = asyncio.get_running_loop()
        self._read.clear()
        self._waiting = loop.create_future()
        self._due_s = loop.time() + self._timeout_s
        if self._watch is None:
            self._look_at_the_time()
        self._transport.write(request)
        return self._waiting

    def _look_at_the_time(self) -> None:
        """One timer a connection, not one a request: it comes late rather than often."""
        loop = asyncio.get_running_loop()
        left_s = self._due_s - loop.time()
        if self._waiting is not None and not self._waiting.done() and left_s <= 0:
            self._waiting.set_exception(TimeoutError())
        self._watch = loop.call_later(left_s if left_s > 0 else self._timeout_s, self._look_at_the_time)

    def close(self) -> None:
        """Close the connection; a reply that is complete stays."""
        self.open = False
        if self._transport is not None:
            self._transport.close()

    def _is_whole(self, head: bytes, body: int) -> bool:
        length = _header(head, b"content-length")
        if length is not None:
            return len(self._read) >= body + int(length)
        if _header(head, b"transfer-encoding") is not None:
            return self._read.endswith(_LAST_CHUNK)
        return int(head.split(b" ", 2)[1]) in _WITHOUT_BODY


def _header(head: bytes, name: bytes) -> bytes | None:
    at = head.find(b"\r\n" + name + b":")
    if at < 0:
        return None
    begin = at + len(name) + 3
    end = head.find(b"\r\n", begin)
    return head[begin : end if end >= 0 else len(head)].strip()


def _reply(head: bytes) -> Reply:
    reply = Reply(int(head.split(b" ", 2)[1]))
    if reply.is_success:
        return reply
    after = _header(head.lower(), b"retry-after") or b""
    return Reply(reply.status, int(after) if after.isdigit() else 0)


class Link:
    """Posts to one address, one request after another; connects anew where the connection is gone.

    Args:
        url: http or https.
        secret: what proves to the receiver who posts; empty: nothing does.
        timeout_s: how long a connection, and then a reply, may take.
    """

    def __init__(self, url: str, secret: str, timeout_s: float) -> None:
        parts = urlsplit(url)
        self._parts = parts
        self._head = _head(parts, secret)
        self._timeout_s = timeout_s
        self._replies: _Replies | None = None

    async def post(self, body: bytes) -> Reply:
        """Post ``body``, which is JSON.

        Raises:
            OSError: there is no connection, or it is gone.
            TimeoutError: no answer in time.
        """
        replies = self._replies
        if replies is None or not replies.open:
            replies = await self._connect()
        try:
            return await replies.send(self._head + str(len(body)).encode() + _HEAD_END + body)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        if self._replies is not None:
            self._replies.close()
        self._replies = None

    async def _connect(self) -> _Replies:
        host, port = self._parts.hostname or "", self._parts.port or _PORT_OF[self._parts.scheme]
        context = ssl.create_default_context() if self._parts.scheme == "https" else None
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(self._timeout_s):
            _, replies = await loop.create_connection(lambda: _Replies(self._timeout_s), host, port, ssl=context)
        self._replies = replies
        return replies


def _head(parts: SplitResult, secret: str) -> bytes:
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    lines = [f"POST {target} HTTP/1.1", f"Host: {parts.netloc}", "Content-Type: application/json"]
    if secret:
        lines.append(f"X-Telegram-Bot-Api-Secret-Token: {secret}")
    return "\r\n".join([*lines, "Accept-Encoding: gzip, deflate", "Content-Length: "]).encode()
