"""What a language must be able to say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bot.names import shown
from engine.game.notices import Answer, Board, LeverPulled, PageShown, Profile, Refused, RoundOpened, RoundRevealed
from engine.ids import PlayerId


@dataclass(frozen=True, slots=True)
class Scene:
    """Where something is said.

    Args:
        private: a chat of one person with the bot.
        hears_all: the bot reads every message of a group; False where Telegram's privacy mode hides plain text.
        names: the names of the players that a notice shows, as hostile as they are.
    """

    private: bool
    hears_all: bool = True
    names: Mapping[PlayerId, str] = field(default_factory=dict)

    def name(self, player: PlayerId) -> str:
        """The name of ``player`` as safe HTML."""
        return shown(self.names.get(player, ""))


class Language(Protocol):
    """Words for every notice: HTML as Telegram reads it, whole by itself, never empty."""

    def answer(self, notice: Answer, scene: Scene) -> str:
        """How close a guess came: one line."""
        ...

    def answers(self, notices: Sequence[Answer], scene: Scene) -> str:
        """How close several guesses of one player came, in order: one line."""
        ...

    def answers_in_short(self, notices: Sequence[Answer], scene: Scene) -> str:
        """How many guesses of one player were answered, the best total and the last: one line of a fixed length."""
        ...

    def refused(self, notice: Refused, scene: Scene) -> str:
        """Why a message was not taken, and what to do next: one line."""
        ...

    def lever_pulled(self, notice: LeverPulled, scene: Scene) -> str:
        """What an admin changed: one line."""
        ...

    def profile(self, notice: Profile, scene: Scene) -> str:
        """A player's own record."""
        ...

    def round_opened(self, notice: RoundOpened, scene: Scene) -> str:
        """A new round, its keyboard and its seal."""
        ...

    def round_revealed(self, notice: RoundRevealed, scene: Scene) -> str:
        """How a round ended, its secret, and how to check it."""
        ...

    def board(self, notice: Board, scene: Scene) -> str:
        """The standings."""
        ...

    def page(self, notice: PageShown, scene: Scene) -> str:
        """One of the fixed pages."""
        ...

    def whose(self, line: str, name: str, message_url: str | None) -> str:
        """A line that answers ``name``'s message (at ``message_url``, where it has one), among other lines."""
        ...

    def outage(self) -> str:
        """That a message has come, is safe, and is answered once a server is back."""
        ...
