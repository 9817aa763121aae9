"""How long Telegram asks to be left alone."""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from telegram.error import RetryAfter
from telegram.warnings import PTBDeprecationWarning


def retry_after_ms(error: RetryAfter) -> int:
    """The pause that a 429 asks for, in ms."""
    with _either_kind():
        asked = error.retry_after
    return round((asked if isinstance(asked, int | float) else asked.total_seconds()) * 1000)


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
