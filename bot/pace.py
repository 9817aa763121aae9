"""How patient the intake is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """Times and numbers of the intake, by polling or webhook.

    Args:
        poll_s: how long Telegram may wait for a first update.
        look_ms: how long slow updates are waited for before Telegram is asked for new ones.
        first_ms: the pause after a first failure; each that follows doubles it.
        most_ms: the longest such pause.
        attempts: tries of an update that fails by itself before it is set aside.
        update_ms: how long one try of an update may take; Telegram waits a minute for the webhook's answer.
        at_once: polled updates in work at the same time.
        posts_at_once: posts of the webhook in work at the same time; more are asked to come again.
        body_ms: how long a post may take to arrive.
    """

    poll_s: int = 25
    look_ms: int = 300
    first_ms: int = 250
    most_ms: int = 30_000
    attempts: int = 6
    update_ms: int = 50_000
    at_once: int = 32
    posts_at_once: int = 256
    body_ms: int = 10_000

    def pause_ms(self, failures: int) -> int:
        """The pause after ``failures`` (at least one) in a row."""
        return min(self.most_ms, self.first_ms << min(failures - 1, 20))
