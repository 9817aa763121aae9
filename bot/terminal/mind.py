"""How a simulated player thinks: only about its own guesses and the totals that the chat told it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from engine.game.model import SECRET_LENGTH
from engine.game.scoring import Scorer

Guess = tuple[str, ...]

_START_AFRESH_AFTER: Final = 60
_NEVER: Final = 1_000_000


class Mind:
    """Looks for a secret that would have given the totals it was told, and guesses that.

    Args:
        chance: where its ideas come from.
        effort: ideas it weighs before it guesses; few make a careless player.
    """

    def __init__(self, chance: random.Random, effort: int) -> None:
        self._chance = chance
        self._effort = effort
        self._emoji: Guess = ()
        self._told: dict[Guess, int] = {}

    def begin(self, emoji: Sequence[str]) -> None:
        """Forget everything and think about a round with these emoji on its keyboard."""
        self._emoji = tuple(emoji)
        self._told.clear()

    def learn(self, guess: Guess, total: int) -> None:
        """Take in what a guess was worth."""
        self._told[guess] = total

    def guess(self) -> Guess:
        """The best idea it has: never one that it tried already."""
        best = idea = self._fresh()
        best_miss = miss = self._miss(idea)
        stuck = 0
        for _ in range(self._effort):
            if best_miss == 0:
                break
            if stuck > _START_AFRESH_AFTER:
                changed, stuck = self._fresh(), 0
                miss = self._miss(changed) + 1
            else:
                changed = self._varied(idea)
            changed_miss = self._miss(changed)
            stuck = 0 if changed_miss < miss else stuck + 1
            if changed_miss <= miss:
                idea, miss = changed, changed_miss
            if miss < best_miss:
                best, best_miss = idea, miss
        return best

    def _fresh(self) -> Guess:
        while (idea := tuple(self._chance.sample(self._emoji, SECRET_LENGTH))) in self._told:
            continue
        return idea

    def _varied(self, idea: Guess) -> Guess:
        varied = list(idea)
        place = self._chance.randrange(SECRET_LENGTH)
        put = self._chance.choice(self._emoji)
        if put in varied:
            varied[varied.index(put)] = varied[place]
        varied[place] = put
        return tuple(varied)

    def _miss(self, idea: Guess) -> int:
        """How far the told totals are from what ``idea`` as the secret would have given."""
        if idea in self._told:
            return _NEVER
        scorer = Scorer(idea)
        return sum(abs(scorer.score(guess).total - total) for guess, total in self._told.items())
