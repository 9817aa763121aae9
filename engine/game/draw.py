"""Drawing a round: sixteen emoji for the keyboard, six of them in order for the secret, and a nonce."""

from __future__ import annotations

import random
import secrets
from typing import Final

from engine.game.model import KEYBOARD_SIZE, SECRET_LENGTH
from engine.game.ports import Drawn
from engine.game.themes import Theme

_NONCE_BYTES: Final = 16


class SecureDraw:
    """Draws what nobody can foresee: from the operating system's randomness."""

    def draw(self, theme: Theme, number: int) -> Drawn:  # noqa: ARG002 - the port's; a secret owes the number nothing
        """Draw from ``theme``; two draws have nothing in common."""
        return _draw(theme, secrets.SystemRandom(), secrets.token_hex(_NONCE_BYTES))


class SeededDraw:
    """Draws what anyone who knows the seed can repeat, in any process: for play and tests, never for a real bot."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def draw(self, theme: Theme, number: int) -> Drawn:
        """Draw from ``theme``; seed, theme and number fix the outcome."""
        # A text seeds by its SHA-512: an int would make -1 and 1 the same, a tuple the process's hash salt.
        chance = random.Random(f"codemojex {self._seed} {number}")  # noqa: S311 - repeatable is what it is for
        nonce = chance.randbytes(_NONCE_BYTES).hex()
        return _draw(theme, chance, nonce)


def _draw(theme: Theme, chance: random.Random, nonce: str) -> Drawn:
    keyboard = tuple(chance.sample(theme.codes, KEYBOARD_SIZE))
    return Drawn(keyboard=keyboard, secret=tuple(chance.sample(keyboard, SECRET_LENGTH)), nonce=nonce)
