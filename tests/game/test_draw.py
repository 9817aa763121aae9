"""Drawing a round."""

from __future__ import annotations

import subprocess
import sys

import pytest

from engine.game.draw import SecureDraw, SeededDraw
from engine.game.ports import Draw
from engine.game.themes import THEMES, Theme, theme

DRAWS: list[Draw] = [SecureDraw(), SeededDraw(7)]
each_draw = pytest.mark.parametrize("draw", DRAWS, ids=["secure", "seeded"])


@each_draw
@pytest.mark.parametrize("each", THEMES.values(), ids=lambda each: each.name)
def test_a_round_has_sixteen_different_emoji_and_six_different_of_them_as_secret(draw: Draw, each: Theme) -> None:
    for number in range(1, 30):
        drawn = draw.draw(each, number)
        assert len(drawn.keyboard) == len(set(drawn.keyboard)) == 16
        assert len(drawn.secret) == len(set(drawn.secret)) == 6
        assert set(drawn.secret) <= set(drawn.keyboard) <= set(each.codes)
        assert len(bytes.fromhex(drawn.nonce)) == 16


@each_draw
def test_the_next_round_is_another(draw: Draw) -> None:
    drawn = [draw.draw(theme("fruits"), number) for number in range(1, 6)]
    assert len({each.keyboard for each in drawn}) == 5
    assert len({each.secret for each in drawn}) == 5
    assert len({each.nonce for each in drawn}) == 5


@each_draw
def test_every_emoji_and_every_place_gets_its_turn(draw: Draw) -> None:
    """The keyboard's order says nothing about the secret, and no emoji of the theme is left out."""
    drawn = [draw.draw(theme("fruits"), number) for number in range(400)]
    assert {code for each in drawn for code in each.secret} == set(theme("fruits").codes)
    for position in range(6):
        assert len({each.keyboard.index(each.secret[position]) for each in drawn}) == 16
    for position in range(16):
        assert {each.keyboard[position] for each in drawn} == set(theme("fruits").codes)


def test_a_secure_draw_does_not_repeat_a_round() -> None:
    assert SecureDraw().draw(theme("fruits"), 1).nonce != SecureDraw().draw(theme("fruits"), 1).nonce


def test_seed_and_number_fix_a_draw() -> None:
    assert SeededDraw(7).draw(theme("fruits"), 3) == SeededDraw(7).draw(theme("fruits"), 3)


@pytest.mark.parametrize("other", [8, 71, -7, 0])
def test_another_seed_draws_another_round(other: int) -> None:
    assert SeededDraw(other).draw(theme("fruits"), 1).secret != SeededDraw(7).draw(theme("fruits"), 1).secret


def test_a_seeded_draw_owes_nothing_to_what_was_drawn_before() -> None:
    draw = SeededDraw(7)
    draw.draw(theme("animals"), 1)
    assert draw.draw(theme("fruits"), 2) == SeededDraw(7).draw(theme("fruits"), 2)


def test_a_seeded_draw_is_the_same_in_another_process() -> None:
    program = (
        "from engine.game.draw import SeededDraw; from engine.game.themes import theme;"
        "d = SeededDraw(7).draw(theme('fruits'), 1); print(*d.keyboard, *d.secret, d.nonce)"
    )
    ran = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    drawn = SeededDraw(7).draw(theme("fruits"), 1)
    assert ran.stdout.split() == [*drawn.keyboard, *drawn.secret, drawn.nonce]


@each_draw
def test_what_was_drawn_does_not_show_its_secret_in_a_log(draw: Draw) -> None:
    drawn = draw.draw(theme("fruits"), 1)
    assert drawn.nonce not in repr(drawn)
    assert repr(drawn.secret) not in repr(drawn)
