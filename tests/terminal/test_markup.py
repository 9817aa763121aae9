"""Telegram's HTML is read as strictly as Telegram reads it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.entities import BadMarkup
from bot.terminal.markup import Span, Style, plain, printable, read_html
from bot.texts.markup import bold, code, folded, link


@pytest.mark.parametrize(
    ("html", "spans"),
    [
        ("plain", (Span("plain"),)),
        ("", ()),
        ("a <b>b</b> c", (Span("a "), Span("b", frozenset({Style.BOLD})), Span(" c"))),
        ("<B>b</B>", (Span("b", frozenset({Style.BOLD})),)),
        ("<b>x<i>y</i></b>", (Span("x", frozenset({Style.BOLD})), Span("y", frozenset({Style.BOLD, Style.ITALIC})))),
        ("<b>x</b><strong>y</strong>", (Span("xy", frozenset({Style.BOLD})),)),
        ('<span class="tg-spoiler">s</span>', (Span("s", frozenset({Style.SPOILER})),)),
        ('<a href="https://t.me/">l</a>', (Span("l", frozenset({Style.LINK})),)),
        ("<blockquote expandable>q</blockquote>", (Span("q", frozenset({Style.QUOTE})),)),
        ("&lt;b&gt; &amp;amp; &quot;", (Span('<b> &amp; "'),)),
        ("&#65;&#x1F34E;", (Span("A🍎"),)),
        ("&nbsp; &apos; & &;", (Span("&nbsp; &apos; & &;"),)),
        ("a > b", (Span("a > b"),)),
    ],
)
def test_what_telegram_takes(html: str, spans: tuple[Span, ...]) -> None:
    assert read_html(html) == spans


@pytest.mark.parametrize(
    "html",
    [
        "a < b",
        "<",
        "<b",
        "<>",
        "<b>x",
        "x</b>",
        "<b><i>x</b></i>",
        "<script>x</script>",
        "<h1>x</h1>",
        "<b onclick='x'>x</b>",
        '<a title="x">x</a>',
        '<span class="other">x</span>',
        "<br>",
        "<b/>",
        "<!-- x -->",
    ],
)
def test_what_telegram_refuses(html: str) -> None:
    with pytest.raises(BadMarkup):
        read_html(html)


def test_an_error_says_where_in_bytes() -> None:
    with pytest.raises(BadMarkup, match="byte offset 4"):
        read_html("🍎<x>")


@pytest.mark.parametrize("html", [bold("b"), code("c"), link("l", 'https://t.me/?a=1&b="2"'), folded("f")])
def test_every_tag_that_the_texts_make_is_one(html: str) -> None:
    assert len(plain(read_html(html))) == 1


@given(st.text())
def test_any_text_reads_or_is_refused(html: str) -> None:
    try:
        spans = read_html(html)
    except BadMarkup:
        return
    assert all(span.text for span in spans)
    assert all(one.styles != other.styles for one, other in pairwise(spans))


@given(st.text())
def test_nothing_printable_steers_a_terminal(text: str) -> None:
    assert not set(printable(text)) & set("\x00\x07\x08\r\x1b\x7f\x9b\u202e\u2066\u200f")


def test_what_makes_up_emoji_and_lines_stays() -> None:
    kept = "🌶️ 👩‍🚀\nnext"
    assert printable(kept) == kept
