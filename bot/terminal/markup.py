"""Telegram's HTML, read as strictly as Telegram reads it, and made safe to print.

Errors::

    ValueError
    └── BadMarkup     Telegram would refuse the message for it
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


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


class BadMarkup(ValueError):  # noqa: N818 - says what is wrong
    """Telegram would refuse the message for it."""


_STYLE_OF: Final = {
    "b": Style.BOLD,
    "strong": Style.BOLD,
    "i": Style.ITALIC,
    "em": Style.ITALIC,
    "u": Style.UNDERLINE,
    "ins": Style.UNDERLINE,
    "s": Style.STRIKE,
    "strike": Style.STRIKE,
    "del": Style.STRIKE,
    "tg-spoiler": Style.SPOILER,
    "code": Style.CODE,
    "pre": Style.CODE,
    "a": Style.LINK,
    "blockquote": Style.QUOTE,
}
_ATTRIBUTES: Final = {
    "a": re.compile(r'\s+href="[^"]*"'),
    "blockquote": re.compile(r"(?:\s+expandable)?"),
    "code": re.compile(r'(?:\s+class="language-[^"]*")?'),
}
_SPOILER: Final = re.compile(r'span\s+class="tg-spoiler"')
_NO_ATTRIBUTES: Final = re.compile("")
_TOKEN: Final = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z-]*)(?P<rest>[^<>]*)>|(?P<text>[^<]+)|(?P<stray><)")
_ENTITY: Final = re.compile(r"&(?:#(?P<number>\d{1,7}|x[0-9A-Fa-f]{1,6})|(?P<name>lt|gt|amp|quot));")
_NAMED: Final = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_LAST_CODE_POINT: Final = 0x10FFFF


def read_html(html: str) -> tuple[Span, ...]:
    """Read a message with ``parse_mode=HTML``.

    Raises:
        BadMarkup: an unknown tag or attribute, a stray ``<``, or tags that don't nest.
    """
    return tuple(_joined(_spans(html)))


def _spans(html: str) -> Iterator[Span]:
    open_tags: list[str] = []
    for token in _TOKEN.finditer(html):
        if token["text"] is not None:
            styles = frozenset(_STYLE_OF[tag] for tag in open_tags)
            yield Span(_ENTITY.sub(_entity, token["text"]), styles)
        elif token["stray"] is not None:
            raise BadMarkup(f"unclosed start tag at byte offset {_offset(html, token.start())}")
        elif token["end"]:
            _close(open_tags, token["name"].lower(), _offset(html, token.start()))
        else:
            open_tags.append(_opened(token["name"].lower(), token["rest"], _offset(html, token.start())))
    if open_tags:
        raise BadMarkup(f'can\'t find end tag corresponding to start tag "{open_tags[-1]}"')


def _opened(name: str, rest: str, offset: int) -> str:
    if _SPOILER.fullmatch(name + rest):
        return "tg-spoiler"
    if name not in _STYLE_OF:
        raise BadMarkup(f'unsupported start tag "{name}" at byte offset {offset}')
    if not _ATTRIBUTES.get(name, _NO_ATTRIBUTES).fullmatch(rest):
        raise BadMarkup(f'unsupported attributes of tag "{name}" at byte offset {offset}')
    return name


def _close(open_tags: list[str], name: str, offset: int) -> None:
    name = "tg-spoiler" if name == "span" else name
    if not open_tags:
        raise BadMarkup(f"unexpected end tag at byte offset {offset}")
    if open_tags.pop() != name:
        raise BadMarkup(f'unmatched end tag "{name}" at byte offset {offset}')


def _entity(found: re.Match[str]) -> str:
    if found["name"]:
        return _NAMED[found["name"]]
    number = found["number"]
    code = int(number[1:], 16) if number.startswith("x") else int(number)
    return chr(code) if 0 < code <= _LAST_CODE_POINT and not 0xD800 <= code <= 0xDFFF else found.group()


def _offset(html: str, position: int) -> int:
    return len(html[:position].encode())


def _joined(spans: Iterable[Span]) -> Iterator[Span]:
    last: Span | None = None
    for span in spans:
        if last is not None and last.styles == span.styles:
            last = Span(last.text + span.text, last.styles)
        else:
            if last is not None:
                yield last
            last = span
    if last is not None:
        yield last


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
