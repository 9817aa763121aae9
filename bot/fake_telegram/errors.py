"""What the fake answers where it does not do what it is asked, in Telegram's words.

Errors::

    Exception
    └── Refused     a call is answered with a code that is no success
"""

from __future__ import annotations

from typing import Any


class Refused(Exception):  # noqa: N818 - reads as what happened
    """A call is answered with ``status`` and ``description``; ``parameters`` tell programs more."""

    def __init__(self, status: int, description: str, parameters: dict[str, Any] | None = None) -> None:
        self.status = status
        self.description = description
        self.parameters = parameters
        super().__init__(description)


def bad_request(words: str, parameters: dict[str, Any] | None = None) -> Refused:
    """400."""
    return Refused(400, f"Bad Request: {words}", parameters)


def forbidden(words: str) -> Refused:
    """403."""
    return Refused(403, f"Forbidden: {words}")


def conflict(words: str) -> Refused:
    """409."""
    return Refused(409, f"Conflict: {words}")


def too_many(retry_after_s: int) -> Refused:
    """429: to be asked again after as many seconds."""
    return Refused(429, f"Too Many Requests: retry after {retry_after_s}", {"retry_after": retry_after_s})
