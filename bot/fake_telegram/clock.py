"""The two clocks: wall time for what chats show, monotonic time for what is measured. Both in ms."""

from __future__ import annotations

import time


def wall_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def monotonic_ms() -> int:
    """Milliseconds since some moment, the same for every process on the machine; they never go back."""
    return time.monotonic_ns() // 1_000_000
