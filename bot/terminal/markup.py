"""Telegram's HTML in the looks that a terminal has, and made safe to print."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby, pairwise
from typing import Final

from bot import entities


class Style(StrEnum):
    """What a stretch of text can look like."""

    BOLD = "bold"
    ITALIC = "italic"
    UNDERLINE = "underline"
    STRIKE = "strike"
    SPOILER = "spoiler"
    CODE = "code"
    LINK = "link"
    QUOTE = "quote"


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text of one look."""

    text: str
    styles: frozenset[Style] = frozenset()


_STYLE_OF: Final = {
    "bold": Style.BOLD,
    "italic": Style.ITALIC,
    "underline": Style.UNDERLINE,
    "strikethrough": Style.STRIKE,
    "spoiler": Style.SPOILER,
    "code": Style.CODE,
    "pre": Style.CODE,
    "text_link": Style.LINK,
    "blockquote": Style.QUOTE,
}
_WIDE: Final = "utf-16-le"
_WIDTH: Final = 2


def read_html(html: str) -> tuple[Span, ...]:
    """Read a message with ``parse_mode=HTML``.

    Raises:
        BadMarkup: an unknown tag or attribute, a stray ``<``, or tags that don't nest.
    """
    return tuple(_joined(_spans(entities.read_html(html))))


def _spans(marked: entities.Marked) -> Iterator[Span]:
    wide = marked.text.encode(_WIDE, "surrogatepass")
    cuts = {0, len(wide) // _WIDTH}.union(*((mark.offset, mark.end) for mark in marked.entities))
    for begin, end in pairwise(sorted(cuts)):
        styles = frozenset(_STYLE_OF[mark.kind] for mark in marked.entities if mark.offset <= begin < mark.end)
        yield Span(wide[begin * _WIDTH : end * _WIDTH].decode(_WIDE, "surrogatepass"), styles)


def _joined(spans: Iterable[Span]) -> Iterator[Span]:
    for styles, run in groupby(spans, key=lambda span: span.styles):
        yield Span(plain(run), styles)


def plain(spans: Iterable[Span]) -> str:
    """The text alone."""
    return "".join(span.text for span in spans)


_UNPRINTABLE: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
_STEERING: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    """``text`` without what steers a terminal: control characters and line ends but the line feed, bidi controls."""
    return "".join(
        character
        for character in text
        if character == "\n" or (unicodedata.category(character) not in _UNPRINTABLE and character not in _STEERING)
    )
