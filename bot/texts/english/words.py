"""Small words: counts, spans of time, places, scores."""

from __future__ import annotations

from typing import Final

from bot.texts.markup import bold
from engine.game.model import SECRET_LENGTH

FULL_SCORE: Final = 100 * SECRET_LENGTH

_MEDALS: Final = {1: "🥇", 2: "🥈", 3: "🥉"}


def count(number: int, one: str, many: str = "") -> str:
    """``number`` with its noun: ``1 guess``, ``2 guesses``. ``many`` defaults to ``one`` and an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def guesses(number: int) -> str:
    """So many guesses."""
    return count(number, "guess", "guesses")


def score(total: int, percent: int) -> str:
    """``560 / 600 (93%)``."""
    return f"{total} / {FULL_SCORE} ({percent}%)"


def place(rank: int) -> str:
    """A medal, or the number of the place."""
    return _MEDALS.get(rank, f"{rank}.")


def ordinal(rank: int) -> str:
    """``1st``, ``2nd``, ``3rd``, ``11th``."""
    suffix = "th" if rank % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{suffix}"


def span(ms: int) -> str:
    """A span of time, rounded up so that nothing is ever 0 long: ``40 s``, ``7 min``, ``2 h 5 min``."""
    seconds = max(1, -(-ms // 1000))
    if seconds < 60:
        return f"{seconds} s"
    hours, minutes = divmod(-(-seconds // 60), 60)
    if not hours:
        return f"{minutes} min"
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def title(number: int, theme_title: str) -> str:
    """The heading of a round."""
    return bold(f"Round {number} · {theme_title}")
