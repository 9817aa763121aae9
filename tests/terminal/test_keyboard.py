"""Letters stand for the keyboard's emoji, and nothing else is touched."""

from __future__ import annotations

import pytest

from bot.terminal.keyboard import LETTERS, Keyboard
from bot.texts import ENGLISH, Scene
from bot.texts.markup import plain
from engine.game.draw import SeededDraw
from engine.game.model import RoundState
from engine.game.notices import Board, RoundOpened
from engine.game.themes import THEMES, Theme
from engine.ids import ROUND, RoundId, brand

FRUITS = THEMES["fruits"].emoji[:16]
KEYBOARD = Keyboard(FRUITS)


def opened(theme: Theme, seed: int) -> RoundOpened:
    drawn = SeededDraw(seed).draw(theme, 1)
    return RoundOpened(RoundId(brand(ROUND, seed)), 1, theme.name, drawn.keyboard, "0" * 64, 10)


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
@pytest.mark.parametrize("hears_all", [True, False])
def test_every_theme_s_keyboard_is_seen_in_the_bot_s_own_words(theme: Theme, *, hears_all: bool) -> None:
    for seed in range(20):
        notice = opened(theme, seed)
        text = plain(ENGLISH.round_opened(notice, Scene(private=False, hears_all=hears_all)))
        assert Keyboard.seen_in(text) == Keyboard(tuple(map(theme.emoji_of, notice.keyboard)))


@pytest.mark.parametrize(("state", "seen"), [(RoundState.OPEN, True), (RoundState.SETTLED, False)])
def test_a_board_shows_it_while_the_round_is_open(state: RoundState, *, seen: bool) -> None:
    keyboard = opened(THEMES["fruits"], 1).keyboard
    notice = Board(
        1, "fruits", keyboard, state, paused=False, remaining_ms=1, lines=(), players_total=0, guesses_total=0
    )
    assert (Keyboard.seen_in(plain(ENGLISH.board(notice, Scene(private=False)))) is not None) == seen


@pytest.mark.parametrize(
    "text",
    ["", "no emoji", " ".join(FRUITS[:15]), " ".join([*FRUITS[:15], FRUITS[0]]), "a " + " ".join(FRUITS)],
)
def test_what_is_no_keyboard_is_none(text: str) -> None:
    assert Keyboard.seen_in(text) is None


@pytest.mark.parametrize(
    ("typed", "posted"),
    [
        ("abcdef", "".join(FRUITS[:6])),
        (" a b c d e f ", "".join(FRUITS[:6])),
        ("pppppp", FRUITS[15] * 6),
        ("/g abcdef", "/g " + "".join(FRUITS[:6])),
        ("/g abc", "/g " + "".join(FRUITS[:3])),
        ("/g@codemojex_bot ab", "/g@codemojex_bot " + "".join(FRUITS[:2])),
    ],
)
def test_letters_become_emoji(typed: str, posted: str) -> None:
    assert KEYBOARD.spelt(typed) == posted


@pytest.mark.parametrize(
    "typed",
    ["abcde", "abcdefg", "abcdez", "hello!", "ABCDEF", "/board", "/g", "/g hello world", "/go abc", FRUITS[0] * 6],
)
def test_everything_else_is_said_as_it_is(typed: str) -> None:
    assert KEYBOARD.spelt(typed) == typed


def test_the_legend_pairs_each_letter_with_its_emoji() -> None:
    assert KEYBOARD.legend().split() == [letter + emoji for letter, emoji in zip(LETTERS, FRUITS, strict=True)]
