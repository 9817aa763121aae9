"""When something last worked, and since when it has not."""

from __future__ import annotations

import time


class Pulse:
    """Beats whenever what it stands for has worked. All by this host's monotonic clock."""

    def __init__(self) -> None:
        self._last_ms: int | None = None
        self._failing_since_ms: int | None = None

    def beat(self) -> None:
        """It worked."""
        self._last_ms = now_ms()
        self._failing_since_ms = None

    def miss(self) -> None:
        """It did not work."""
        if self._failing_since_ms is None:
            self._failing_since_ms = now_ms()

    @property
    def age_ms(self) -> int | None:
        """How long ago it last worked; None where it never did."""
        return None if self._last_ms is None else now_ms() - self._last_ms

    @property
    def failing_ms(self) -> int:
        """For how long it has not worked though it was tried; 0 where the last try worked."""
        return 0 if self._failing_since_ms is None else now_ms() - self._failing_since_ms


def now_ms() -> int:
    """This host's monotonic clock."""
    return time.monotonic_ns() // 1_000_000
