"""What the chat shows, as blocks that nobody's words can break out of."""

from __future__ import annotations

import pytest

from bot.terminal.chat import Said
from bot.terminal.markup import Span, Style
from bot.terminal.people import Person
from bot.terminal.screen import Screen

ANA = Person.named("Ana")
BOT = Person(1, "Codemojex")


def written(said: Said, *, numbered: bool = True, coloured: bool = False) -> str:
    blocks: list[str] = []
    Screen(blocks.append, numbered=numbered, coloured=coloured).show(said)
    (block,) = blocks
    return block


def test_a_block_is_a_header_and_indented_words_with_an_empty_line_after() -> None:
    said = Said(7, ANA, by_bot=False, spans=(Span("one\ntwo"),))
    assert written(said) == "[7] Ana\n  one\n  two\n\n"


def test_an_answer_says_what_it_answers() -> None:
    assert written(Said(9, BOT, by_bot=True, spans=(Span("x"),), reply_to=7)).startswith(
        "[bot] Codemojex (answers 7)\n"
    )


def test_people_at_a_table_have_different_colours_and_keep_them() -> None:
    blocks: list[str] = []
    screen = Screen(blocks.append, numbered=False, coloured=True)
    names = ("You", "Mira", "Theo", "You")
    for number, name in enumerate(names):
        screen.show(Said(number, Person.named(name), by_bot=False, spans=(Span("hi"),)))
    colours = [block.partition("m")[0] for block in blocks]
    assert len(set(colours)) == 3
    assert colours[0] == colours[3]


def test_people_at_a_table_see_names_instead_of_numbers() -> None:
    blocks: list[str] = []
    screen = Screen(blocks.append, numbered=False, coloured=False)
    screen.show(Said(7, ANA, by_bot=False, spans=(Span("hi"),)))
    screen.show(Said(9, BOT, by_bot=True, spans=(Span("yes?"),), reply_to=7))
    screen.show(Said(10, BOT, by_bot=True, spans=(Span("and?"),), reply_to=1))
    assert [block.splitlines()[0] for block in blocks] == ["Ana", "Codemojex (answers Ana)", "Codemojex"]


@pytest.mark.parametrize("words", ["secret: x", "a\nsecret: x", "a\r\nsecret: x", "a\x0bsecret: x", "\u2028secret: x"])
def test_only_a_secret_looks_like_one(words: str) -> None:
    block = written(Said(7, Person.named("secret: "), by_bot=False, spans=(Span(words),)))
    assert not any(line.startswith("secret: ") for line in block.splitlines())


def test_a_secret_stands_in_a_line_of_its_own() -> None:
    blocks: list[str] = []
    Screen(blocks.append, numbered=True, coloured=False).secret("🍎🍐")
    assert blocks == ["secret: 🍎🍐\n\n"]


def test_looks_are_shown_on_a_terminal_and_end_with_their_line() -> None:
    said = Said(7, BOT, by_bot=True, spans=(Span("a\nb", frozenset({Style.BOLD})), Span(" c")))
    assert written(said, coloured=True).endswith("  \x1b[1ma\x1b[0m\n  \x1b[1mb\x1b[0m c\n\n")
    assert "\x1b" not in written(said)
