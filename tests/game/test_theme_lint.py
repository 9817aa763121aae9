"""The linter catches each fault that it names."""

from __future__ import annotations

import pytest

from engine.game.theme_lint import lint
from tests.game.making import PLAIN, a_theme


def test_a_theme_without_fault_passes() -> None:
    assert lint(a_theme()) == []


@pytest.mark.parametrize(
    ("emoji", "fault"),
    [
        ("👍", "takes a skin tone"),
        ("👍🏽", "has a skin tone"),
        ("🏽", "has a skin tone"),
        ("🐻\u200d❄\ufe0f", "has a zero-width joiner"),
        ("🇫🇷", "is a flag"),
        ("🏴", "is a flag"),
        ("🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "is a flag"),
        ("1\ufe0f\u20e3", "is a keycap"),
        ("❄", "is not a fully-qualified RGI emoji"),  # without its U+FE0F
        ("⚡\ufe0f", "is not a fully-qualified RGI emoji"),  # with one too many
        ("x", "is not a fully-qualified RGI emoji"),
        ("", "is not a fully-qualified RGI emoji"),
        ("🍎🍎", "is not a fully-qualified RGI emoji"),
        ("\U0001fae0", "is of emoji version 14; clients may not draw it"),
    ],
)
def test_a_faulty_emoji_is_told(emoji: str, fault: str) -> None:
    faults = lint(a_theme(f"{PLAIN} {emoji}"))
    assert any(found.endswith(fault) for found in faults), faults


def test_a_test_theme_may_have_tone_bases_and_no_more() -> None:
    assert lint(a_theme(f"{PLAIN} 👍"), allow_tone_bases=True) == []
    assert lint(a_theme(f"{PLAIN} 👍🏽"), allow_tone_bases=True) != []


def test_emoji_that_are_the_same_once_stripped_are_told() -> None:
    faults = lint(a_theme(f"{PLAIN} ⚡ ⚡\ufe0f"))
    assert "⚡ ('\\u26a1') is there 2 times, once stripped" in faults


def test_an_emoji_that_begins_another_is_told() -> None:
    faults = lint(a_theme(f"{PLAIN} 👁\ufe0f 👁\ufe0f\u200d🗨\ufe0f"))
    assert any("is a prefix of" in fault for fault in faults), faults


def test_emoji_that_spell_a_joined_one_are_told() -> None:
    """A black cat is a cat, a joiner and a black square: stripped, it would count as two."""
    faults = lint(a_theme(f"{PLAIN} 🐈 ⬛"))
    assert len(faults) == 1
    assert faults[0].endswith("would be read as emoji of the theme, one after another")
    assert lint(a_theme(f"{PLAIN} 🐈")) == []


@pytest.mark.parametrize(
    ("id_", "name", "emoji", "fault"),
    [
        ("EMS000", "test", PLAIN, "id must be a EMS id"),
        ("ROM00000000001", "test", PLAIN, "id must be a EMS id"),
        ("EMS00000000001", "Test", PLAIN, "the name 'Test' must be lower-case"),
        ("EMS00000000001", "te st", PLAIN, "the name 'te st' must be lower-case"),
        ("EMS00000000001", "", PLAIN, "the name '' must be lower-case"),
        ("EMS00000000001", "test", "🍎 🍐 🍊", "a theme has 16..256 emoji, this one 3"),
        ("EMS00000000001", "test", " ".join(["🍎"] * 257), "a theme has 16..256 emoji, this one 257"),
    ],
)
def test_a_fault_of_the_set_is_told(id_: str, name: str, emoji: str, fault: str) -> None:
    faults = lint(a_theme(emoji, id_=id_, name=name))
    assert any(fault in found for found in faults), faults
