"""English."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.texts.english.answers import OUTAGE, answer, answers, answers_in_short, lever_pulled, profile
from bot.texts.english.pages import COMMAND_MENU, page
from bot.texts.english.refusals import refused
from bot.texts.english.rounds import board, round_opened, round_revealed
from bot.texts.language import Language, Scene
from bot.texts.markup import link
from engine.game.notices import Answer, Board, LeverPulled, PageShown, Profile, Refused, RoundOpened, RoundRevealed

__all__ = ["COMMAND_MENU", "ENGLISH", "English"]


class English:
    """The words of the bot in English."""

    def answer(self, notice: Answer, scene: Scene) -> str:
        """How close a guess came."""
        return answer(notice, scene)

    def answers(self, notices: Sequence[Answer], scene: Scene) -> str:
        """How close several guesses of one player came."""
        return answers(notices, scene)

    def answers_in_short(self, notices: Sequence[Answer], scene: Scene) -> str:
        """How many guesses of one player were answered, the best total and the last."""
        return answers_in_short(notices, scene)

    def refused(self, notice: Refused, scene: Scene) -> str:
        """Why a message was not taken, and what to do next."""
        return refused(notice, scene)

    def lever_pulled(self, notice: LeverPulled, scene: Scene) -> str:
        """What an admin changed."""
        return lever_pulled(notice, scene)

    def profile(self, notice: Profile, scene: Scene) -> str:
        """A player's own record."""
        return profile(notice, scene)

    def round_opened(self, notice: RoundOpened, scene: Scene) -> str:
        """A new round, its keyboard and its seal."""
        return round_opened(notice, scene)

    def round_revealed(self, notice: RoundRevealed, scene: Scene) -> str:
        """How a round ended, its secret, and how to check it."""
        return round_revealed(notice, scene)

    def board(self, notice: Board, scene: Scene) -> str:
        """The standings."""
        return board(notice, scene)

    def page(self, notice: PageShown, scene: Scene) -> str:
        """One of the fixed pages."""
        return page(notice.page, scene)

    def whose(self, line: str, name: str, message_url: str | None) -> str:
        """The line after the name, which leads to the message."""
        return f"{name if message_url is None else link(name, message_url)} · {line}"

    def outage(self) -> str:
        """What comes in waits."""
        return OUTAGE


ENGLISH: Final[Language] = English()
