"""A line that the bot passes over in silence is told by the terminal, if it looks meant for the bot."""

from __future__ import annotations

import string

import pytest

from bot.terminal.keyboard import Keyboard
from bot.terminal.passed_over import advice

KEYBOARD = Keyboard(tuple(string.ascii_uppercase[:16]))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("abcdez", "z on no key"),
        ("ABCDEF", "in lower case"),
        ("a b c d", "4 letters; a guess has 6"),
        ("abcde", "5 letters; a guess has 6"),
        ("abcdefg", "7 letters; a guess has 6"),
        ("/bord", "The bot knows no /bord: /help"),
        ("/new game", "The bot knows no /new"),
    ],
)
def test_a_line_that_looks_like_a_guess_or_a_command_and_is_none_is_told(line: str, says: str) -> None:
    assert says in (advice(line, KEYBOARD) or "")


def test_letters_before_the_first_round_are_told_to_wait_for_one() -> None:
    assert "/newgame" in (advice("abcdef", None) or "")


@pytest.mark.parametrize(
    "line",
    ["abcdef", "a b c d e f", "abc def", "/board", "/G abc", "/me@codemojex_bot", "well done, Mira", "ok", "🍎🍎"],
)
def test_what_the_bot_answers_and_plain_talk_are_not_told(line: str) -> None:
    assert advice(line, KEYBOARD) is None
