"""How long Telegram asks to be left alone."""

from __future__ import annotations

import warnings

from telegram.error import RetryAfter
from telegram.warnings import PTBDeprecationWarning


def retry_after_ms(error: RetryAfter) -> int:
    """The pause that a 429 asks for, in ms."""
    with warnings.catch_warnings():
        # The library announces that a future version will answer a timedelta; both are read here.
        warnings.simplefilter("ignore", PTBDeprecationWarning)
        asked = error.retry_after
    return round((asked if isinstance(asked, int | float) else asked.total_seconds()) * 1000)
