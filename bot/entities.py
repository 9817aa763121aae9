"""Texts as Telegram reads them: its HTML, the entities in it, commands, and how long a text is.

Errors::

    ValueError
    └── BadMarkup     Telegram would refuse the message for it
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

_COMMAND: Final = re.compile(r"(?<!\S)/\w{1,64}(?:@\w{3,32})?", re.ASCII)
_KIND_OF: Final = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "span": "spoiler",
    "code": "code",
    "pre": "pre",
    "a": "text_link",
    "blockquote": "blockquote",
}
_TAG_NAME: Final = re.compile(r"[^\s>]*")
_ATTRIBUTE: Final = re.compile(
    r"""\s+(?P<name>[^\s=>]+)(?:\s*=\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<token>[A-Za-z0-9.-]+)(?=[\s>])))?"""
)
_SPACE: Final = re.compile(r"\s*")
_WITHOUT_VALUE: Final = frozenset({("blockquote", "expandable")})
_WITH_VALUE: Final = frozenset({("a", "href"), ("code", "class"), ("span", "class")})
_REFERENCE: Final = re.compile(r"&(?:#(?P<number>\d{1,7}|x[0-9A-Fa-f]{1,6})|(?P<name>lt|gt|amp|quot));")
_NAMED: Final = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_LAST_CODE_POINT: Final = 0x10FFFF
_SURROGATES: Final = range(0xD800, 0xE000)


class BadMarkup(ValueError):  # noqa: N818 - says what is wrong
    """Telegram would refuse the message for it."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A stretch of text that looks or acts otherwise; offset and length in UTF-16 units."""

    kind: str
    offset: int
    length: int
    url: str | None = None

    @property
    def end(self) -> int:
        """The first unit after it."""
        return self.offset + self.length

    def to_dict(self) -> dict[str, Any]:
        """In the Bot API's words."""
        told: dict[str, Any] = {"type": self.kind, "offset": self.offset, "length": self.length}
        return told if self.url is None else {**told, "url": self.url}


@dataclass(frozen=True, slots=True)
class Marked:
    """A text and what is marked in it, in the order of its beginning."""

    text: str
    entities: tuple[Entity, ...] = ()


def units(text: str) -> int:
    """The length of ``text`` as Telegram counts it: UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def commands(text: str) -> tuple[Entity, ...]:
    """The commands that Telegram marks in what people type."""
    if "/" not in text:
        return ()
    return tuple(
        Entity("bot_command", units(text[: found.start()]), units(found.group())) for found in _COMMAND.finditer(text)
    )


def read_html(html: str) -> Marked:
    """Read a message with ``parse_mode=HTML``. Stricter than Telegram in one thing: it passes over unknown attributes.

    Raises:
        BadMarkup: in Telegram's words: an unknown tag or attribute, a stray ``<``, or tags that don't nest.
    """
    return _Reader(html).read()


@dataclass(frozen=True, slots=True)
class _Open:
    """A tag that is not closed yet."""

    name: str
    offset: int
    begin: int
    url: str | None


@dataclass(slots=True)
class _Reader:
    """Goes through one text from front to back."""

    html: str
    at: int = 0
    parts: list[str] = field(default_factory=list)
    length: int = 0
    open: list[_Open] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)

    def read(self) -> Marked:
        while self.at < len(self.html):
            tag = self.html.find("<", self.at)
            end = tag if tag >= 0 else len(self.html)
            self._take(_REFERENCE.sub(_referred, self.html[self.at : end]))
            self.at = end
            if tag >= 0:
                self._close() if self.html.startswith("</", tag) else self._open()
        if self.open:
            raise BadMarkup(f'Can\'t find end tag corresponding to start tag "{self.open[-1].name}"')
        return Marked("".join(self.parts), tuple(sorted(self.entities, key=lambda it: (it.offset, -it.length))))

    def _take(self, text: str) -> None:
        self.parts.append(text)
        self.length += units(text)

    def _open(self) -> None:
        begin = self.at
        name = self._name(begin + 1)
        if self.at >= len(self.html):
            raise BadMarkup(f"Unclosed start tag at byte offset {self._bytes(begin)}")
        if name not in _KIND_OF:
            raise BadMarkup(f'Unsupported start tag "{name}" at byte offset {self._bytes(begin)}')
        attributes = self._attributes(name, begin)
        if name == "span" and attributes.get("class") != "tg-spoiler":
            raise BadMarkup(f'Tag "span" must have class "tg-spoiler" at byte offset {self._bytes(begin)}')
        url = attributes.get("href", "") if name == "a" else None
        self.open.append(_Open(name, self.length, len(self.parts), url))

    def _attributes(self, name: str, begin: int) -> dict[str, str]:
        found: dict[str, str] = {}
        while (attribute := _ATTRIBUTE.match(self.html, self.at)) is not None:
            if (name, attribute["name"]) not in _WITH_VALUE | _WITHOUT_VALUE:
                raise BadMarkup(f'Unsupported attribute of the tag "{name}" at byte offset {self._bytes(begin)}')
            values = [value for value in attribute.group("double", "single", "token") if value is not None]
            if not values and (name, attribute["name"]) not in _WITHOUT_VALUE:
                raise BadMarkup(
                    f'Expected equal sign in declaration of an attribute of the tag "{name}" '
                    f"at byte offset {self._bytes(begin)}"
                )
            found[attribute["name"].lower()] = _REFERENCE.sub(_referred, values[0]) if values else ""
            self.at = attribute.end()
        self._skip_space()
        if not self.html.startswith(">", self.at):
            raise BadMarkup(f"Unclosed start tag at byte offset {self._bytes(begin)}")
        self.at += 1
        return found

    def _close(self) -> None:
        begin = self.at
        if not self.open:
            raise BadMarkup(f"Unexpected end tag at byte offset {self._bytes(begin)}")
        name = self._name(begin + 2)
        self._skip_space()
        if not self.html.startswith(">", self.at):
            raise BadMarkup(f"Unclosed end tag at byte offset {self._bytes(begin)}")
        self.at += 1
        tag = self.open.pop()
        if name not in {"", tag.name}:
            raise BadMarkup(
                f'Unmatched end tag at byte offset {self._bytes(begin)}, expected "</{tag.name}>", found "</{name}>"'
            )
        if self.length > tag.offset:
            url = tag.url if tag.url is None else tag.url or "".join(self.parts[tag.begin :])
            self.entities.append(Entity(_KIND_OF[tag.name], tag.offset, self.length - tag.offset, url))

    def _name(self, at: int) -> str:
        found = _TAG_NAME.match(self.html, at)
        name = found.group() if found is not None else ""
        self.at = at + len(name)
        return name.lower()

    def _skip_space(self) -> None:
        found = _SPACE.match(self.html, self.at)
        self.at = found.end() if found is not None else self.at

    def _bytes(self, position: int) -> int:
        return len(self.html[:position].encode("utf-8", "surrogatepass"))


def _referred(found: re.Match[str]) -> str:
    if found["name"]:
        return _NAMED[found["name"]]
    number = found["number"]
    code = int(number[1:], 16) if number.startswith("x") else int(number)
    return chr(code) if 0 < code <= _LAST_CODE_POINT and code not in _SURROGATES else found.group()
