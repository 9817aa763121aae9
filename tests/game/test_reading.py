"""Reading a guess, as clients, people and attackers type it."""

from __future__ import annotations

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.game.notices import Refusal, Refused
from engine.game.reading import LONGEST, Chatter, Codes, read_guess
from engine.game.theme_lint import lint
from engine.game.themes import THEMES, Theme, theme
from tests.game.making import PLAIN, a_theme

FRUITS = theme("fruits")
KEYBOARD = FRUITS.codes[:16]
SIX = FRUITS.emoji[:6]
G = "".join(SIX)
TAKEN = Codes(FRUITS.codes[:6])
INVISIBLE = (
    "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f\u202a\u202e\u2066\u2069\u061c\ufe0e\ufe0f \t\n\u00a0\u3000"
)
THUMBS = a_theme(f"👍 ✌️ {PLAIN}")

Read = Codes | Chatter | Refused


def plain(text: str, each: Theme | None = FRUITS, *, private: bool = False) -> Read:
    keyboard = each.codes[:16] if each else ()
    return read_guess(text, each, keyboard, explicit=False, private=private)


def explicit(text: str, each: Theme | None = FRUITS) -> Read:
    keyboard = each.codes[:16] if each else ()
    return read_guess(text, each, keyboard, explicit=True, private=False)


def wrong_count(got: int) -> Refused:
    return Refused(Refusal.WRONG_COUNT, got=got, wanted=6)


def unknown(*words: str) -> Refused:
    return Refused(Refusal.UNKNOWN_EMOJI, words=words)


@pytest.mark.parametrize("text", [G, " ".join(SIX), f"\n{G}  ", "\ufe0f".join(SIX) + "\ufe0f", f"\u202e{G}\u202c"])
def test_six_emoji_of_the_keyboard_are_a_guess_however_they_are_spaced(text: str) -> None:
    assert plain(text) == explicit(text) == plain(text, private=True) == TAKEN


def test_a_guess_may_repeat_an_emoji() -> None:
    assert plain("🍎" * 6) == Codes(("0000",) * 6)


@given(st.lists(st.text(INVISIBLE, max_size=4), min_size=7, max_size=7))
def test_invisible_characters_change_nothing(between: list[str]) -> None:
    text = between[0] + "".join(emoji + gap for emoji, gap in zip(SIX, between[1:], strict=True))
    assert plain(text) == TAKEN


@given(st.sampled_from(list(THEMES.values())), st.data())
def test_what_a_theme_shows_is_read_back(each: Theme, data: st.DataObject) -> None:
    keyboard = data.draw(st.permutations(each.codes))[:16]
    codes = tuple(data.draw(st.lists(st.sampled_from(keyboard), min_size=6, max_size=6)))
    assert read_guess(each.show(codes), each, keyboard, explicit=False, private=False) == Codes(codes)


@pytest.mark.case("T1")
@pytest.mark.parametrize("thumb", ["👍", "👍🏽", "👍🏿", "👍\ufe0f", "👍🏽\ufe0f", "👍🏽🏽"])
def test_a_skin_tone_is_no_emoji_of_its_own(thumb: str) -> None:
    assert lint(THUMBS, allow_tone_bases=True) == []
    assert plain(f"{thumb}✌🏻🍎🍐🍊{thumb}", THUMBS) == Codes(("0000", "0100", "0200", "0300", "0400", "0000"))


@pytest.mark.case("T1")
def test_a_skin_tone_without_an_emoji_before_it_is_unknown() -> None:
    assert explicit("🏽🍎🍎🍎🍎🍎", THUMBS) == unknown("🏽")


@pytest.mark.case("T2")
@pytest.mark.parametrize("bolt", ["⚡", "⚡\ufe0f", "⚡\ufe0e"])
@pytest.mark.parametrize("snow", ["❄", "❄\ufe0f", "❄\ufe0e"])
def test_a_variation_selector_makes_no_other_emoji(bolt: str, snow: str) -> None:
    nature = theme("nature")
    codes = (nature.code(bolt), nature.code(snow)) * 3
    assert plain((bolt + snow) * 3, nature) == Codes(codes) == plain("⚡❄️" * 3, nature)


@pytest.mark.case("T3")
@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "🍎\u200d" * 2048,
        "\u200d" + "🍎\u200d" * 2047 + "🍎",
        "🍎" * 4096,
        "👍🏽" * 2048,
        "🏽" * 4096,
        "🇫" * 4096,
        "1\ufe0f\u20e3" * 1365,
        "🏴" + "\U000e0061" * 4095,
        "🍎" + "\u0301" * 4095,
        "\u200d" * 4096,
        "a" * 4096,
        "🍎" * 4095 + "a",
        " " * 4096,
    ],
    ids=ascii,
)
def test_hostile_text_is_decided_in_5_ms_and_never_taken(text: str, private: bool) -> None:  # noqa: FBT001 - a parameter
    for said in (True, False):
        took_s = []
        for _ in range(5):
            began = perf_counter()
            read = read_guess(text, FRUITS, KEYBOARD, explicit=said, private=private)
            took_s.append(perf_counter() - began)
            assert not isinstance(read, Codes)
        assert min(took_s) < 0.005


@pytest.mark.case("T3")
def test_joined_apples_by_the_thousand_are_too_long() -> None:
    too_long = Refused(Refusal.TOO_LONG, got=2048, wanted=LONGEST)
    assert plain("🍎\u200d" * 2048) == explicit("🍎\u200d" * 2048) == too_long


@pytest.mark.case("T3")
@pytest.mark.parametrize("text", [f"\u200d{G}", f"{G}\u200d", "\u200d".join(SIX), f"\u200d\u200d{G}\u200d\u200d"])
def test_a_stray_joiner_joins_nothing(text: str) -> None:
    assert plain(text) == TAKEN


def test_the_bound_is_128_code_points_once_stripped() -> None:
    assert explicit(" 🍎" * 128) == wrong_count(128)
    assert explicit(" 🍎" * 129) == Refused(Refusal.TOO_LONG, got=129, wanted=128)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("👨\u200d👩\u200d👧", ("👨", "👩", "👧")),
        ("🐈\u200d⬛🐈\u200d⬛🐈\u200d⬛", ("🐈", "⬛")),
        ("🇫🇷🇫🇷🇫🇷", ("🇫🇷",)),
        ("1️⃣1️⃣1️⃣", ("1️⃣",)),
        ("❤❤❤", ("❤️",)),
        ("🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f" * 3, ("🏴",)),
        ("👍🏽👍🏽👍🏽", ("👍🏽",)),
    ],
)
def test_an_emoji_that_no_keyboard_has_is_refused_and_shown(text: str, shown: tuple[str, ...]) -> None:
    assert plain(text) == unknown(*shown)


def test_an_emoji_of_the_theme_that_this_keyboard_lacks_is_unknown() -> None:
    assert FRUITS.code("🌶") not in KEYBOARD
    assert plain("🍎🍐🍊🍋🍌🌶") == unknown("🌶️")


def test_an_unknown_emoji_outweighs_a_wrong_count() -> None:
    assert plain("🍎🍐🍊🍋🍌🍉🐶") == unknown("🐶")


def test_at_most_three_unknown_emoji_are_shown_each_once() -> None:
    assert plain("🐶🐱🐶🐰🦊🐼🐨") == unknown("🐶", "🐱", "🐰")


@pytest.mark.parametrize("got", [3, 4, 5, 7, 12])
def test_another_number_than_six_is_refused_with_the_count(got: int) -> None:
    assert plain("🍎" * got) == explicit("🍎" * got) == wrong_count(got)


@pytest.mark.parametrize("text", ["", " ", "\u200d\ufe0f"])
def test_an_empty_guess_is_told_that_it_has_none(text: str) -> None:
    assert explicit(text) == wrong_count(0)
    assert plain(text) == plain(text, private=True) == Chatter()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("@all", ("@", "a", "l")),
        ("<b>", ("<", "b", ">")),
        (f"{G} please", ("p", "l", "e")),
        ("e" + "\u0301" * 50, ("e",)),
        ("🍎" + "\u0301" * 50, ("\ufffd",)),
        ("\ue000", ("\ufffd",)),
        ("\x07", ("\ufffd",)),
        ("\u3164", ("\ufffd",)),
        ("123456", ("1", "2", "3")),
    ],
)
def test_what_is_shown_back_is_single_characters_without_marks(text: str, shown: tuple[str, ...]) -> None:
    assert explicit(text) == unknown(*shown)


@given(st.text(max_size=60))
def test_whatever_is_shown_back_is_short_and_visible(text: str) -> None:
    read = explicit(text)
    if isinstance(read, Refused) and read.reason is Refusal.UNKNOWN_EMOJI:
        assert 1 <= len(read.words) <= 3
        assert all(1 <= len(word) <= 3 for word in read.words)
        assert not any(mark in "".join(read.words) for mark in "\u202e\u2066\u200d\n\u0301")


@pytest.mark.parametrize(
    "text", ["hello", "🍎🍐🍊🍋🍌🍉!", f"gg {G}", "1 2 3 4 5 6", "/board", "...", "123456", "a🍎b🍎c🍎"]
)
@pytest.mark.parametrize("private", [False, True])
def test_text_is_chatter(text: str, private: bool) -> None:  # noqa: FBT001 - a parameter
    assert plain(text, private=private) == Chatter()
    assert plain(text, None, private=private) == Chatter()


@pytest.mark.parametrize("text", ["😂", "🍎🍎", "👍🏽👍🏽", "🇫🇷🇫🇷", "❤️❤️"])
def test_one_or_two_emoji_are_chatter_in_a_group_and_an_attempt_in_private(text: str) -> None:
    assert plain(text) == Chatter()
    assert isinstance(plain(text, private=True), Refused)


@pytest.mark.parametrize("private", [False, True])
def test_without_a_round_only_six_emoji_are_an_attempt(private: bool) -> None:  # noqa: FBT001 - a parameter
    no_round = Refused(Refusal.NO_ROUND)
    assert plain(G, None, private=private) == no_round
    assert plain("👍🏽" * 6, None, private=private) == no_round
    for text in ("🍎" * 5, "🍎" * 7, "😂", "🍎" * 4096):
        assert plain(text, None, private=private) == Chatter()


@pytest.mark.parametrize("text", [G, "", "hello", "🍎" * 4096])
def test_without_a_round_whatever_is_said_to_be_a_guess_is_told_so(text: str) -> None:
    assert explicit(text, None) == Refused(Refusal.NO_ROUND)


def test_the_longest_match_wins_where_one_emoji_begins_another() -> None:
    """No published theme has such a pair (the linter sees to it): the reading doesn't depend on it."""
    pair = a_theme(f"👁️ 👁️\u200d🗨️ {PLAIN}")
    assert plain("👁🗨👁🍎🍎🍎🍎", pair) == Codes(("0100", "0000", "0200", "0200", "0200", "0200"))


def test_a_theme_with_a_blank_emoji_still_ends() -> None:
    blank = a_theme(f"{PLAIN} \ufe0f")
    assert explicit("🐶", blank) == unknown("🐶")
