"""Themes: codes and emoji, and that what was published stays."""

from __future__ import annotations

import re

import pytest

from engine.game.model import KEYBOARD_SIZE
from engine.game.theme_lint import lint
from engine.game.themes import THEMES, Theme, UnknownEmoji, UnknownTheme, theme
from tests.game.making import a_theme

# What stored rounds rely on. Emoji may follow these; none of these may move.
PUBLISHED = {
    "EMS00000000001 fruits": "🍎 🍐 🍊 🍋 🍌 🍉 🍇 🍓 🍒 🍑 🍍 🥝 🥥 🥑 🍆 🥔 🥕 🌽 🌶️ 🥒 🥦 🍄 🥜 🌰",
    "EMS00000000002 animals": "🐶 🐱 🐰 🦊 🐼 🐨 🦁 🐷 🐸 🐵 🐧 🦉 🦄 🐝 🦋 🐌 🐞 🐢 🐍 🐙 🦀 🐳 🐘 🦒 🦔 🦩",
    "EMS00000000003 food": "🍞 🥐 🥨 🧀 🥚 🥓 🍔 🍟 🍕 🌭 🌮 🍿 🍣 🍤 🍦 🍩 🍪 🎂 🍫 🍭 🍯 🥛 ☕ 🥗 🍜 🍙",
    "EMS00000000004 sports": "⚽ 🏀 🏈 ⚾ 🎾 🎱 🏓 🏸 🥊 🥋 🎯 ⛳ 🎣 🎿 🛷 🏹 🛹 🏆 🥇 🎳 🏒 🥌 ⛸️ 🎲 🚲 🪁",
    "EMS00000000005 travel": "🚗 🚌 🚑 🚒 🚜 🛵 🚂 ✈️ 🚀 🚁 ⛵ 🚢 ⚓ 🚦 ⛽ 🗽 🏰 🎡 ⛺ 🌋 🏝️ ⛲ 🗼 🎪 🧳",
    "EMS00000000006 nature": "🌞 🌙 ⭐ ⚡ ☔ ❄️ 🔥 🌈 🌊 🌵 🌲 🌴 🍀 🍁 🌻 🌹 🌷 ⛄ ☁️ 🪐 🌍 🐚 🌾 💧 💎",
}
each_theme = pytest.mark.parametrize("each", THEMES.values(), ids=lambda each: each.name)


@each_theme
def test_every_theme_passes_the_linter(each: Theme) -> None:
    assert lint(each) == []


@each_theme
def test_every_theme_has_half_as_many_emoji_again_as_a_keyboard(each: Theme) -> None:
    assert len(each.emoji) >= KEYBOARD_SIZE * 3 // 2


def test_a_published_emoji_never_moves() -> None:
    by_key = {f"{each.id} {each.name}": each.emoji for each in THEMES.values()}
    assert {key: " ".join(by_key[key][: len(emoji.split())]) for key, emoji in PUBLISHED.items()} == PUBLISHED


def test_themes_share_no_id_and_are_found_by_their_own_name() -> None:
    assert len({each.id for each in THEMES.values()}) == len(THEMES)
    assert all(name == each.name for name, each in THEMES.items())


def test_a_code_is_the_index_in_hex_and_a_zero_byte() -> None:
    fruits = theme("fruits")
    assert fruits.codes[:6] == ("0000", "0100", "0200", "0300", "0400", "0500")
    assert fruits.codes[-1] == "1700"
    assert fruits.show(["0000", "0100", "0a00"]) == "🍎🍐🍍"


@each_theme
def test_emoji_and_code_lead_to_each_other(each: Theme) -> None:
    assert [each.emoji_of(each.code(emoji)) for emoji in each.emoji] == list(each.emoji)
    assert all(re.fullmatch(r"[0-9a-f]{2}00", code) for code in each.codes)
    assert len(set(each.codes)) == len(each.emoji)


@pytest.mark.case("T2")
@pytest.mark.parametrize(("name", "emoji"), [("nature", "⚡"), ("nature", "❄"), ("travel", "✈"), ("fruits", "🍎")])
def test_an_emoji_has_one_code_with_and_without_a_variation_selector(name: str, emoji: str) -> None:
    found = theme(name)
    assert found.code(emoji) == found.code(emoji + "\ufe0f") == found.code(emoji + "\ufe0e")


@pytest.mark.parametrize("name", ["fruits", "Fruits", " FRUITS "])
def test_a_theme_is_found_in_any_case(name: str) -> None:
    assert theme(name) is THEMES["fruits"]


@pytest.mark.parametrize("name", ["", "fruit", "\u202efruits", "x" * 5000])
def test_an_unknown_theme_is_refused_with_the_known_names(name: str) -> None:
    with pytest.raises(UnknownTheme, match="choose one of fruits, animals") as refused:
        theme(name)
    assert (refused.value.name, refused.value.known) == (name, tuple(THEMES))
    assert str(refused.value).isascii()
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("wanted", ["1800", "", "0", "0001", "🐶"])
def test_what_a_theme_lacks_is_refused(wanted: str) -> None:
    with pytest.raises(UnknownEmoji, match="theme fruits has no"):
        theme("fruits").emoji_of(wanted)
    with pytest.raises(UnknownEmoji, match="theme fruits has no"):
        theme("fruits").code(wanted)


def test_the_themes_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        THEMES["mine"] = a_theme()  # type: ignore[index] # that the type forbids it is half of the test


def test_themes_of_the_same_emoji_are_equal_and_hash_alike() -> None:
    assert a_theme() == a_theme()
    assert hash(a_theme()) == hash(a_theme())
    assert a_theme() != a_theme(name="other")
