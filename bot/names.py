"""Names as people may see them: whatever a name was made of, it shows as a short plain text that stays in its place.

A name is cleaned when it comes in and again where it is shown; both are idempotent, so neither trusts the other.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import regex

LONGEST_GRAPHEMES: Final = 24
LONGEST_UNITS: Final = 64
"""UTF-16 units: a grapheme of joined emoji may be long, a message counts in these."""
MOST_MARKS: Final = 2
"""Combining marks that one letter keeps; real scripts seldom stack more, vandals do."""
NOBODY: Final = "Player"

_FSI: Final = "\u2068"
_PDI: Final = "\u2069"
_ELLIPSIS: Final = "…"
_BREAK: Final = "\u2060"

_BLANK: Final = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffc")
"""Letters and symbols that draw nothing."""
_REMEMBERED: Final = 8_192
"""Names cleaned once; the same few talk for hours."""
_JOINERS: Final = frozenset("\u200c\u200d")
"""Persian, the Indic scripts and emoji families are written with these; at an edge they join nothing."""
_SELECTORS: Final = frozenset("\ufe0e\ufe0f")
_GRAPHEME: Final = regex.compile(r"\X")
_LIVE: Final = re.compile(r"(?<=[@/#$])(?=\w)|(?<=\w)(?=[.:]\w)")
"""Where a client would see a mention, command, tag, address or link begin."""


def account_name(first: str, last: str | None, account_ref: int) -> str:
    """The display name of an account, cleaned; one that shows nothing becomes ``Player`` and its last digits."""
    return clean(f"{first} {last or ''}") or f"{NOBODY} {abs(account_ref) % 10_000:04d}"


@lru_cache(_REMEMBERED)
def clean(text: str) -> str:
    """``text`` on one line, without control, bidi, zero-width and blank characters, cut by what readers see.

    Empty where nothing visible is left.
    """
    kept = "".join(_kept(unicodedata.normalize("NFC", text)))
    squeezed = " ".join(kept.split()).strip("\u200c\u200d ")
    graphemes = [_tame(found.group()) for found in _GRAPHEME.finditer(squeezed)]
    if not any(_visible(character) for grapheme in graphemes for character in grapheme):
        return ""
    return _cut(graphemes)


def shown(name: str) -> str:
    """``name`` as HTML for a message: cleaned, cut, escaped, isolated, and never a live mention, command or link."""
    return isolated(clean(name) or NOBODY)


def isolated(text: str) -> str:
    """A foreign text as HTML: escaped, and unable to turn the direction of what stands around it."""
    return f"{_FSI}{html.escape(_LIVE.sub(_BREAK, text), quote=False)}{_PDI}"


def _kept(text: str) -> Iterator[str]:
    for character in text:
        category = unicodedata.category(character)
        if character in _JOINERS or character in _SELECTORS:
            yield character
        elif character.isspace() or category[0] == "Z":
            yield " "
        elif category[0] != "C" and character not in _BLANK and not _is_selector(character):
            yield character


def _is_selector(character: str) -> bool:
    return "\ufe00" <= character <= "\ufe0d" or "\U000e0100" <= character <= "\U000e01ef" or character == "\u034f"


def _visible(character: str) -> bool:
    return unicodedata.category(character)[0] in "LNPS"


def _tame(grapheme: str) -> str:
    tamed: list[str] = []
    marks = 0
    for character in grapheme:
        if unicodedata.category(character) in {"Mn", "Me"} and character not in _SELECTORS:
            marks += 1
            if marks > MOST_MARKS:
                continue
        tamed.append(character)
    return "".join(tamed)


def _cut(graphemes: list[str]) -> str:
    whole = "".join(graphemes)
    if len(graphemes) <= LONGEST_GRAPHEMES and _units(whole) <= LONGEST_UNITS:
        return whole
    short: list[str] = []
    left = LONGEST_UNITS - 1
    for grapheme in graphemes[: LONGEST_GRAPHEMES - 1]:
        left -= _units(grapheme)
        if left < 0:
            break
        short.append(grapheme)
    return "".join(short).rstrip() + _ELLIPSIS


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
