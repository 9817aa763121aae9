"""How long Telegram asks to be left alone."""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from telegram.error import RetryAfter
from telegram.warnings import PTBDeprecationWarning

LONGEST_MS: Final = 86_400_000
"""Whoever is asked for more asks again after that; nobody is left alone for years because of one wrong number."""
_AT_LEAST_MS: Final = 1_000


def retry_after_ms(error: RetryAfter) -> int:
    """The pause that a 429 asks for, in ms: a second where that is none, and a day at most."""
    with _either_kind():
        asked = error.retry_after
    asked_ms = round((asked if isinstance(asked, int | float) else asked.total_seconds()) * 1000)
    return min(asked_ms, LONGEST_MS) if asked_ms > 0 else _AT_LEAST_MS


def flooded(ms: int) -> RetryAfter:
    """The error that Telegram would answer, asking for a pause of ``ms``."""
    with _either_kind():
        return RetryAfter(dt.timedelta(milliseconds=ms))


@contextmanager
def _either_kind() -> Iterator[None]:
    """The library announces that a future version will answer a timedelta; both are read here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PTBDeprecationWarning)
        yield
