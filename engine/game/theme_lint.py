"""What a theme must be before it is published, so that every client draws it and every guess reads one way only."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from typing import Final

import emoji as unicode_emoji
import regex

from engine.game.glyphs import JOINER, KEYCAP, TONES, bare
from engine.game.model import KEYBOARD_SIZE
from engine.game.themes import Theme
from engine.ids import EMOJI_SET, BadId, check

LARGEST: Final = 256
NEWEST: Final = 12
"""Unicode emoji version that even old clients draw."""

_TONE_BASE: Final = regex.compile(r"\p{Emoji_Modifier_Base}")
_FLAG: Final = regex.compile(r"\p{Regional_Indicator}|[\U000e0020-\U000e007f]|\U0001f3f4")
_FULLY_QUALIFIED: Final = unicode_emoji.STATUS["fully_qualified"]


def lint(theme: Theme, *, allow_tone_bases: bool = False) -> list[str]:
    """Every fault of ``theme``, in words; none means that it may be published.

    Args:
        theme: the theme to look at.
        allow_tone_bases: let emoji stand that take a skin tone (a test theme may have them).
    """
    faults = [*_faults_of_set(theme)]
    for emoji in theme.emoji:
        faults += [f"{emoji} ({emoji!a}) {fault}" for fault in _faults_of_emoji(emoji, tones=allow_tone_bases)]
    return [*faults, *_faults_of_pairs(theme), *_faults_of_joins(theme)]


def _faults_of_set(theme: Theme) -> Iterator[str]:
    try:
        check(theme.id, kind=EMOJI_SET)
    except BadId as error:
        yield str(error)
    if not theme.name.isascii() or not theme.name.isalnum() or theme.name != theme.name.casefold():
        yield f"the name {theme.name!a} must be lower-case ASCII letters and digits"
    if not KEYBOARD_SIZE <= len(theme.emoji) <= LARGEST:
        yield f"a theme has {KEYBOARD_SIZE}..{LARGEST} emoji, this one {len(theme.emoji)}"


def _faults_of_emoji(emoji: str, *, tones: bool) -> Iterator[str]:
    data = unicode_emoji.EMOJI_DATA.get(emoji)
    if data is None or data["status"] != _FULLY_QUALIFIED:
        yield "is not a fully-qualified RGI emoji"
    elif data["E"] > NEWEST:
        yield f"is of emoji version {data['E']}; clients may not draw it"
    if JOINER in emoji:
        yield "has a zero-width joiner"
    if _FLAG.search(emoji):
        yield "is a flag"
    if KEYCAP in emoji:
        yield "is a keycap"
    if not TONES.isdisjoint(emoji):
        yield "has a skin tone"
    elif not tones and _TONE_BASE.search(emoji):
        yield "takes a skin tone"


def _faults_of_pairs(theme: Theme) -> Iterator[str]:
    typed = Counter(bare(emoji) for emoji in theme.emoji)
    for emoji, times in typed.items():
        if times > 1:
            yield f"{emoji} ({emoji!a}) is there {times} times, once stripped"
    for short, long in permutations(typed, 2):
        if long.startswith(short):
            yield f"{short} ({short!a}) is a prefix of {long} ({long!a})"


def _faults_of_joins(theme: Theme) -> Iterator[str]:
    # Stripping takes joiners off, so a joined emoji made of the theme's own would be read as two of them.
    parts = "|".join(re.escape(bare(emoji)) for emoji in theme.emoji)
    spelled = re.compile(f"(?:(?:{parts})[{''.join(sorted(TONES))}]*)+")
    for emoji in unicode_emoji.EMOJI_DATA:
        if JOINER in emoji and spelled.fullmatch(bare(emoji)):
            yield f"{emoji} ({emoji!a}) would be read as emoji of the theme, one after another"
