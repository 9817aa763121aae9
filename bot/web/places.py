"""Addresses of the web side: where Telegram posts, and where this process listens."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote, urlsplit

HEALTH: Final = "/health"
METRICS: Final = "/metrics"
_PORTS: Final = {None, 80, 88, 443, 8443}
"""Telegram posts to no other."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """How Telegram is to post updates.

    Args:
        url: where to; its path is ours, too.
        secret: what each post shows.
        connections: most posts at the same time.
    """

    url: str
    secret: str = field(repr=False)
    connections: int

    @property
    def path(self) -> str:
        """The path that posts come on, as the server reads it: without its ``%`` escapes."""
        return unquote(urlsplit(self.url).path) or "/"


def derived_secret(token: str) -> str:
    """A secret that all bots of one token share, and that does not tell the token."""
    return hmac.new(token.encode(), b"codemojex webhook secret", hashlib.sha256).hexdigest()


def check_public(url: str, *, plain: bool) -> None:
    """See whether Telegram can post to ``url``.

    Args:
        url: the address.
        plain: http, and any port, will do: the Bot API is no Telegram's.

    Raises:
        ValueError: it can't; says why.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError("it must be an address like https://bot.example.org/telegram") from None
    if parts.scheme not in ({"https", "http"} if plain else {"https"}) or not parts.hostname:
        raise ValueError("it must be an address like https://bot.example.org/telegram")
    if not plain and port not in _PORTS:
        raise ValueError("Telegram posts to the ports 443, 80, 88 and 8443 alone")
    path = unquote(parts.path)
    if parts.username or parts.password or parts.query or parts.fragment or {"{", "}"} & set(path):
        raise ValueError("it must be a plain address, without user, password, query, fragment or braces")
    for taken in (HEALTH, METRICS):
        if path.startswith(taken):
            raise ValueError(f"{taken} is taken; choose another path")


def split_place(place: str) -> tuple[str, int]:
    """Host and port of ``HOST:PORT`` (``[::1]:8080`` for IPv6; port 0: any free one).

    Raises:
        ValueError: it is no such thing.
    """
    parts = urlsplit(f"//{place}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or port is None or parts.netloc != place or "@" in place:
        raise ValueError("it must be HOST:PORT, like 127.0.0.1:8080 or 0.0.0.0:8080")
    return host, port
