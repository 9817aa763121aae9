"""Emoji as clients type them, and what of that counts.

A client adds variation selectors, spaces, zero-width and bidi characters as it likes; ``bare`` takes them off. Every
pattern here is linear in its text, whatever the text.
"""

from __future__ import annotations

import re
from typing import Final

import regex

_INVISIBLE: Final = re.compile(
    "["
    r"\s"
    r"\u00ad\u034f\u180e\u200b-\u200d\u2060-\u2064\ufeff"  # zero-width
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # bidi, and the deprecated format characters beside it
    r"\ufe0e\ufe0f"  # text or emoji style
    "]+"
)
TONES: Final = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
TEXT_STYLE, EMOJI_STYLE, JOINER, KEYCAP = "\ufe0e", "\ufe0f", "\u200d", "\u20e3"

_TAGS: Final = r"[\U000e0020-\U000e007f]"
_NOTHING_BUT_EMOJI: Final = regex.compile(
    rf"(?:\p{{Extended_Pictographic}}|\p{{Emoji_Modifier}}|\p{{Regional_Indicator}}|{_TAGS}|[0-9#*]{KEYCAP})++"
)
_GRAPHEME: Final = regex.compile(r"\X")
_EMOJI: Final = regex.compile(
    rf"\p{{Regional_Indicator}}{{2}}|[0-9#*]{KEYCAP}|[\p{{Extended_Pictographic}}\p{{Emoji_Modifier}}]"
    r"\p{Emoji_Modifier}?"
)
_DRAWN_AS_TEXT: Final = regex.compile(
    r"(?!\p{Emoji_Presentation})[\p{Extended_Pictographic}0-9#*](?!\p{Emoji_Modifier})"
)
_NO_GLYPH: Final = "\ufffd"


def bare(text: str) -> str:
    """``text`` without whitespace, variation selectors, zero-width and bidi characters."""
    return _INVISIBLE.sub("", text)


def nothing_but_emoji(bare_text: str) -> bool:
    """Whether a bare text is emoji from end to end (any emoji, tones and flags too) and not empty."""
    return _NOTHING_BUT_EMOJI.fullmatch(bare_text) is not None


def count_emoji(bare_text: str) -> int:
    """How many emoji people see in a bare text; a tone belongs to what it follows, a flag's letters go by two."""
    return sum(1 for _ in _GRAPHEME.finditer(bare_text))


def grapheme_at(bare_text: str, position: int) -> str:
    """What a reader sees as one character, at ``position`` of a bare text."""
    found = _GRAPHEME.match(bare_text, position)
    return found.group() if found else ""


def presentable(grapheme: str) -> str:
    """A bare grapheme as it may be shown back: a whole emoji, or one printable character without its marks."""
    emoji = _EMOJI.match(grapheme)
    if emoji is not None:
        return _DRAWN_AS_TEXT.sub(rf"\g<0>{EMOJI_STYLE}", emoji.group())
    first = grapheme[:1]
    return (
        first
        if first.isprintable() and not regex.match(r"[\p{M}\p{Cn}\p{Co}\p{Default_Ignorable_Code_Point}]", first)
        else _NO_GLYPH
    )
