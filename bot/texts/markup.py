"""The few tags that the texts use, and how long a text is once Telegram has read them."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Final

KEYS_A_ROW: Final = 8

_TAG: Final = re.compile(r"<[^>]*>")


def bold(inner: str) -> str:
    """``inner`` (HTML) in bold."""
    return f"<b>{inner}</b>"


def code(inner: str) -> str:
    """``inner`` (HTML) in fixed width; a tap copies it."""
    return f"<code>{inner}</code>"


def link(inner: str, url: str) -> str:
    """``inner`` (HTML) as a link."""
    return f'<a href="{html.escape(url)}">{inner}</a>'


def folded(inner: str) -> str:
    """``inner`` (HTML) as a quotation that clients fold."""
    return f"<blockquote expandable>{inner}</blockquote>"


def rows(emoji: Sequence[str]) -> str:
    """A keyboard in rows of eight."""
    return "\n".join(" ".join(emoji[at : at + KEYS_A_ROW]) for at in range(0, len(emoji), KEYS_A_ROW))


def plain(marked_up: str) -> str:
    """What a reader sees of an HTML text."""
    return html.unescape(_TAG.sub("", marked_up))


def units(marked_up: str) -> int:
    """Length of an HTML text as Telegram counts it: UTF-16 units, after entities."""
    return len(plain(marked_up).encode("utf-16-le")) // 2


def entities(marked_up: str) -> int:
    """How many entities Telegram makes of an HTML text; it drops those past a hundred."""
    return marked_up.count("</")
