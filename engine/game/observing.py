"""Who is told what became of messages."""

from __future__ import annotations

from typing import Protocol

from engine.game.notices import Refusal


class Observer(Protocol):
    """Is told what became of messages; must not block or raise."""

    def guessed(self, *, new: bool) -> None:
        """A guess is safe on its lane; not ``new`` where its message had been taken before."""
        ...

    def refused(self, reason: Refusal) -> None:
        """A message was not taken, and its author is told why."""
        ...


class Unobserved:
    """Nobody looks."""

    def guessed(self, *, new: bool) -> None:
        """See `Observer`."""

    def refused(self, reason: Refusal) -> None:
        """See `Observer`."""
