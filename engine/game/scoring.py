"""How close a guess came.

For each position of the guess, an emoji that the secret lacks is worth 0, and one that stands d places away in the
secret is worth 100 - 20 d. A total is 0..600 and always a multiple of 20.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.game.model import SECRET_LENGTH

EXACT: Final = 100
STEP: Final = 20
WINNING_TOTAL: Final = SECRET_LENGTH * EXACT


@dataclass(frozen=True, slots=True)
class Score:
    """A guess's total (0..600) and percent (0..100)."""

    total: int
    percent: int

    @property
    def cracked(self) -> bool:
        """Whether the guess was the secret."""
        return self.total == WINNING_TOTAL


def percent(total: int) -> int:
    """Total/6, rounded half up."""
    return (2 * total + SECRET_LENGTH) // (2 * SECRET_LENGTH)


# A score is a value and there are only 31 of them, so none is built per guess.
_SCORES: Final = tuple(Score(total, percent(total)) for total in range(0, WINNING_TOTAL + STEP, STEP))


class Scorer:
    """Scores guesses against one secret; what depends on the secret alone is worked out once.

    Args:
        secret: six emoji codes, all different.

    Raises:
        ValueError: they are not six, or not all different.
    """

    __slots__ = ("_worth",)

    def __init__(self, secret: Sequence[str]) -> None:
        if len(secret) != SECRET_LENGTH or len(set(secret)) != SECRET_LENGTH:
            # The codes stay out of the message: it may reach a log.
            raise ValueError(f"a secret is {SECRET_LENGTH} different emoji codes, got {len(secret)} codes")
        # In twentieths of the total, so that the sum is the index of the score.
        self._worth = {
            code: tuple((EXACT - STEP * abs(place - home)) // STEP for place in range(SECRET_LENGTH))
            for home, code in enumerate(secret)
        }

    def score(self, guess: Sequence[str]) -> Score:
        """Score six emoji codes; a repeated one scores at each of its places.

        Raises:
            ValueError: they are not six.
        """
        if len(guess) != SECRET_LENGTH:
            raise ValueError(f"a guess is {SECRET_LENGTH} emoji codes, got {len(guess)}")
        worth = self._worth
        steps = 0
        for place, code in enumerate(guess):
            if code in worth:
                steps += worth[code][place]
        return _SCORES[steps]


def score(secret: Sequence[str], guess: Sequence[str]) -> Score:
    """Score one guess; for many against one secret keep a ``Scorer``.

    Raises:
        ValueError: either is not six codes, or the secret repeats one.
    """
    return Scorer(secret).score(guess)
