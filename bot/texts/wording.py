"""From a notice to its words in a language."""

from __future__ import annotations

from typing import assert_never

from bot.texts.language import Language, Scene
from engine.game.notices import (
    Answer,
    Board,
    LeverPulled,
    Notice,
    PageShown,
    Profile,
    Refused,
    RoundOpened,
    RoundRevealed,
)


def word(notice: Notice, scene: Scene, language: Language) -> str:  # noqa: PLR0911 - one return a kind of notice
    """``notice`` as HTML."""
    match notice:
        case Answer():
            return language.answer(notice, scene)
        case Refused():
            return language.refused(notice, scene)
        case LeverPulled():
            return language.lever_pulled(notice, scene)
        case Profile():
            return language.profile(notice, scene)
        case RoundOpened():
            return language.round_opened(notice, scene)
        case RoundRevealed():
            return language.round_revealed(notice, scene)
        case Board():
            return language.board(notice, scene)
        case PageShown():
            return language.page(notice, scene)
        case _:
            assert_never(notice)


def is_big(notice: Notice) -> bool:
    """Whether ``notice`` stands in a message of its own."""
    return isinstance(notice, RoundOpened | RoundRevealed | Board | PageShown)
