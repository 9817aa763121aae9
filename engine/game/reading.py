"""Reading a guess: from a message, however a client typed it, to six emoji codes, or to what is wrong with it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from engine.game.glyphs import TONES, bare, count_emoji, grapheme_at, nothing_but_emoji, presentable
from engine.game.model import SECRET_LENGTH
from engine.game.notices import Refusal, Refused
from engine.game.themes import Theme

LONGEST: Final = 128
"""Code points that a guess may have, once stripped. Six emoji need far fewer; beyond it nothing is tokenised."""

SHOWN: Final = 3
"""How many unknown emoji a refusal names."""

_ENOUGH_IN_A_GROUP: Final = 3
_ENOUGH_IN_PRIVATE: Final = 1


@dataclass(frozen=True, slots=True)
class Codes:
    """Six emoji of the keyboard."""

    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chatter:
    """Not meant as a guess: passed over in silence."""


def read_guess(
    text: str, theme: Theme | None, keyboard: Collection[str], *, explicit: bool, private: bool
) -> Codes | Chatter | Refused:
    """Read ``text`` as a guess of the running round.

    A plain message is an attempt only if it is nothing but emoji: at least three in a group, one in a private
    chat, exactly six where no round runs. An explicit one always gets an answer.

    Args:
        text: the message, or what followed ``/g``.
        theme: the theme of the running round; None where none runs.
        keyboard: the codes of the round's keyboard.
        explicit: the player said that it is a guess.
        private: the message came in a private chat.
    """
    stripped = bare(text)
    if not explicit and not _is_attempt(stripped, running=theme is not None, private=private):
        return Chatter()
    if theme is None:
        return Refused(Refusal.NO_ROUND)
    if len(stripped) > LONGEST:
        return Refused(Refusal.TOO_LONG, got=len(stripped), wanted=LONGEST)
    codes: list[str] = []
    unknown: dict[str, None] = {}
    for code, seen in _tokens(stripped, theme):
        if code is not None and code in keyboard:
            codes.append(code)
        else:
            unknown[seen] = None
    if unknown:
        return Refused(Refusal.UNKNOWN_EMOJI, words=tuple(unknown)[:SHOWN])
    if len(codes) != SECRET_LENGTH:
        return Refused(Refusal.WRONG_COUNT, got=len(codes), wanted=SECRET_LENGTH)
    return Codes(tuple(codes))


def _is_attempt(stripped: str, *, running: bool, private: bool) -> bool:
    if not nothing_but_emoji(stripped):
        return False
    if len(stripped) > LONGEST:
        return running
    count = count_emoji(stripped)
    if not running:
        return count == SECRET_LENGTH
    return count >= (_ENOUGH_IN_PRIVATE if private else _ENOUGH_IN_A_GROUP)


def _tokens(stripped: str, theme: Theme) -> Iterator[tuple[str | None, str]]:
    """Cut a stripped text into the theme's codes, longest match first, each with how it may be shown.

    A tone after a match is dropped; what the theme doesn't have comes with no code, a grapheme at a time.
    """
    position = 0
    while position < len(stripped):
        for length in theme.lengths:
            code = theme.alphabet.get(stripped[position : position + length])
            if code is not None:
                position += length
                while position < len(stripped) and stripped[position] in TONES:
                    position += 1
                yield code, theme.emoji_of(code)
                break
        else:
            grapheme = grapheme_at(stripped, position)
            position += len(grapheme)
            yield None, presentable(grapheme)
