"""Telegram's posts: who may post, how much, and what Telegram is told.

========  ================================================================================
200       the update has a receipt, or was set aside: Telegram forgets it
403       the secret is missing or wrong; nothing else was looked at
400       it asks for another protocol, and so has no body
405, 415  no post, or no JSON
408, 413  it did not arrive in time, or is larger than any update
503       not taken now; Telegram posts it again (for a day), and no update of that chat before
========  ================================================================================

What carries the secret and is no update will never be one. It is set aside and answered 200: after anything
else, Telegram would repeat it for a day with its chat waiting behind it.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from typing import Any, Final

import structlog
from starlette.types import Message, Receive, Scope, Send

from bot import events
from bot.deadlines import Deadline
from bot.taking import Outcome, Taking, Unreadable
from bot.web.places import Webhook

LARGEST: Final = 1 << 20
"""Bytes of a body. Telegram's updates are smaller by far."""
_BEGINNING: Final = 4_096
"""Bytes that tell one body from another: the update's number comes first."""
SECRET_HEADER: Final = b"x-telegram-bot-api-secret-token"

_AGAIN: Final = {b"retry-after": b"1"}
_AND_GO: Final = {b"connection": b"close"}
"""What was not read to its end must not be taken for a next request."""

_TOO_LARGE: Final = Unreadable("larger than any update")

_log = structlog.get_logger(__name__)


class _Gone(Exception):  # noqa: N818 - reads as what happened
    """Whoever posted hung up."""


class _Refused(Exception):  # noqa: N818 - reads as what happened
    """An answer that is no 200."""

    def __init__(self, status: int, headers: dict[bytes, bytes] | None = None) -> None:
        self.status = status
        self.headers = headers or {}
        super().__init__(status)


class WebhookEndpoint:
    """An ASGI application for one path. Answers 503 before ``open`` and after ``close``.

    Args:
        webhook: as Telegram was told.
    """

    def __init__(self, webhook: Webhook) -> None:
        self.webhook = webhook
        self._secret = webhook.secret.encode()
        self._taking: Taking | None = None
        self._in_work = 0
        self._idle = asyncio.Event()
        self._idle.set()

    def open(self, taking: Taking) -> None:
        """Take posts from now on."""
        self._taking = taking

    async def close(self) -> None:
        """Take none any more, and return once those in work are answered."""
        self._taking = None
        await self._idle.wait()

    @property
    def is_open(self) -> bool:
        """Whether posts are taken."""
        return self._taking is not None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one post."""
        try:
            status, headers = await self._answer(scope, receive)
        except _Refused as refused:
            status, headers = refused.status, refused.headers
            if status != 503:
                _log.warning(events.POST_REFUSED, status=status)
        except _Gone:
            return
        await _say(send, status, headers)

    async def _answer(self, scope: Scope, receive: Receive) -> tuple[int, dict[bytes, bytes]]:
        said = _said(scope)
        if scope["method"] != "POST":
            raise _Refused(405, {b"allow": b"POST", **_AND_GO})
        if not hmac.compare_digest(said.get(SECRET_HEADER, b""), self._secret):
            raise _Refused(403, _AND_GO)
        if said.get(b"content-type", b"").partition(b";")[0].strip().lower() != b"application/json":
            raise _Refused(415, _AND_GO)
        if _changes_protocol(scope):
            raise _Refused(400, _AND_GO)
        taking = self._taking
        if taking is None or self._in_work >= taking.pace.posts_at_once:
            raise _Refused(503, _AGAIN)
        self._in_work += 1
        self._idle.clear()
        try:
            return await self._take(taking, said, receive)
        finally:
            self._in_work -= 1
            if not self._in_work:
                self._idle.set()

    async def _take(self, taking: Taking, said: dict[bytes, bytes], receive: Receive) -> tuple[int, dict[bytes, bytes]]:
        body, whole = await _body(said, receive, taking.deadlines.within(taking.pace.body_ms))
        try:
            outcome = await (_taken(taking, body) if whole else taking.refuse(body, _TOO_LARGE, taking.pace.attempts))
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not be taken for a receipt
            _log.error(events.POST_FAILED, error=type(error).__name__, exc_info=error)
            outcome = Outcome.NOT_YET
        if outcome.acknowledged:
            return 200, {} if whole else _AND_GO
        # Too large is perhaps a proxy's doing: so it may come again a few times.
        return (503, _AGAIN) if whole else (413, _AND_GO)


async def _taken(taking: Taking, body: bytes) -> Outcome:
    raw = _update(body)
    return await (taking.refuse(body, raw) if isinstance(raw, Unreadable) else taking.take(raw))


def _said(scope: Scope) -> dict[bytes, bytes]:
    """The headers; one that came twice with different values counts as neither."""
    said: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        said[name] = value if said.get(name, value) == value else b""
    return said


def _changes_protocol(scope: Scope) -> bool:
    """Whether the server takes the body for words of another protocol, and so passes none on.

    An update that a proxy sent on like that would look empty, and be lost with a 200.
    """
    named = {name for name, _ in scope["headers"]}
    asks = any(b"upgrade" in value.lower() for name, value in scope["headers"] if name == b"connection")
    return asks and b"upgrade" in named


async def _body(said: dict[bytes, bytes], receive: Receive, deadline: Deadline) -> tuple[bytes, bool]:
    """The body and True; or its beginning and False where it is larger than ``LARGEST``, which no more is read of.

    Raises:
        _Refused: it did not come in time.
        _Gone: it will not come.
    """
    announced = said.get(b"content-length", b"0")
    fits = len(announced) < 20 and int(announced) <= LARGEST  # the server takes digits alone
    most = LARGEST if fits else _BEGINNING
    body = bytearray()
    try:
        with deadline:
            while len(body) <= most:
                message: Message = await receive()
                if message["type"] == "http.disconnect":
                    raise _Gone
                body += message.get("body", b"")
                if len(body) <= most and not message.get("more_body", False):
                    return bytes(body), True
    except TimeoutError:
        raise _Refused(408, _AND_GO) from None
    return bytes(body[:_BEGINNING]), False


def _update(body: bytes) -> dict[str, Any] | Unreadable:
    """The update in ``body``, as Telegram sent it; or why it is none."""
    try:
        raw = json.loads(body)
    except (ValueError, RecursionError) as error:
        return Unreadable(f"no JSON: {type(error).__name__}")
    if not isinstance(raw, dict):
        return Unreadable("no object")
    number = raw.get("update_id")
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 1 << 53:
        return Unreadable("no update_id")
    return raw


async def _say(send: Send, status: int, headers: dict[bytes, bytes]) -> None:
    await send(
        {"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0"), *headers.items()]}
    )
    await send({"type": "http.response.body", "body": b""})
