"""A round's clock: it runs to a deadline, stands still while the room is paused, and goes on with what it had.

All times are wall clock, in ms. Only an open round has a clock. One that was set back meanwhile never gives a round
more than its minutes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from engine.game.model import Round, RoundState

SLACK_MS: Final = 10_000
"""By how much the clocks of two processes may differ without either having been set."""


def remaining_ms(round_: Round, now_ms: int) -> int | None:
    """What the clock still has, never below 0; None where the round is no longer open."""
    if round_.state is not RoundState.OPEN:
        return None
    if round_.deadline_ms is None:
        return round_.remaining_ms
    return min(max(0, round_.deadline_ms - now_ms), round_.minutes * 60_000)


def is_due(round_: Round, now_ms: int) -> bool:
    """Whether an open round's time is up. A clock that stands still is never due."""
    return round_.state is RoundState.OPEN and round_.deadline_ms is not None and round_.deadline_ms <= now_ms


def is_astray(round_: Round, now_ms: int) -> bool:
    """Whether the deadline is farther off than the round is long: the wall clock was set back since it was set."""
    if round_.state is not RoundState.OPEN or round_.deadline_ms is None:
        return False
    return round_.deadline_ms - now_ms > round_.minutes * 60_000 + SLACK_MS


def set_right(round_: Round, now_ms: int) -> Round:
    """Give a round that is astray its minutes from now."""
    return replace(round_, deadline_ms=now_ms + (remaining_ms(round_, now_ms) or 0))


def pause_clock(round_: Round, now_ms: int) -> Round:
    """Stop the clock; one that stands still, or is no more, stays as it is."""
    if round_.state is not RoundState.OPEN:
        return round_
    return replace(round_, deadline_ms=None, remaining_ms=remaining_ms(round_, now_ms))


def resume_clock(round_: Round, now_ms: int) -> Round:
    """Let the clock go on with what it had; one that runs, or is no more, stays as it is."""
    if round_.state is not RoundState.OPEN or round_.deadline_ms is not None:
        return round_
    return replace(round_, deadline_ms=now_ms + (round_.remaining_ms or 0), remaining_ms=None)
