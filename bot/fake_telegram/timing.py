"""How long things last; the defaults are Telegram's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DAY_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class Timing:
    """Durations that a test may shorten."""

    press_ms: int = 15_000
    """How long a press can be answered."""
    press_update_ms: int = 150_000
    """How long the update of a press is offered."""
    update_ms: int = DAY_MS
    """How long every other update is offered."""
    same_offset_ms: int = 3_000
    """A poll that asks again for what was just asked for waits as long at least."""
    most_poll_ms: int = 50_000
    """A longer poll is as long as this."""
    webhook_ms: int = 60_000
    """How long a webhook may take to answer."""
    webhook_pause_ms: int = 2_000
    """Pause before an update is posted a third time (the second time is at once); then it doubles."""
    webhook_most_pause_ms: int = 60_000
    """The longest of those pauses."""
    webhook_retry_after_scale: float = 1.0
    """What a second of a webhook's ``Retry-After`` lasts, in seconds."""
