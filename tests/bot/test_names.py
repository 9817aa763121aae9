"""Names that are meant to break things, alone and in every screen."""

from __future__ import annotations

import pytest

from bot.names import LONGEST_GRAPHEMES, LONGEST_UNITS, account_name, clean, shown
from bot.terminal.markup import plain, read_html
from tests.bot.making import ANA, GROUP, group, person
from tests.bot.stage import Stage

FSI, PDI, BREAK = "\u2068", "\u2069", "\u2060"
ZALGO = "".join(letter + "\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308" for letter in "abcdefgh" * 8)

HOSTILE = [
    '<b>&"</a><tg-spoiler>',
    "_*[x](tg://user?id=1)",
    "\u202egnp.evil",
    "</b>" * 8,
    ZALGO,
    "👨‍👩‍👧‍👦" * 16,
    "a\u2069b\u2066c\u200fd",
    "&amp;&lt;",
    "new\nline\r\u2028\u2029tab\tnul\x00",
    "@durov /newgame #x $USD t.me/x https://x.y",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_one_short_isolated_line_of_plain_text(name: str) -> None:
    html = shown(name)
    text = plain(read_html(html))
    assert text.startswith(FSI)
    assert text.endswith(PDI)
    inner = text[1:-1]
    assert not any(character in inner for character in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\n\r\x00")
    assert len(inner.replace(BREAK, "").encode("utf-16-le")) // 2 <= LONGEST_UNITS
    assert all(not span.styles for span in read_html(html))


def test_a_name_keeps_its_letters_whatever_they_mean_to_markup() -> None:
    assert plain(read_html(shown('<b>&"</a>'))).replace(BREAK, "") == f'{FSI}<b>&"</a>{PDI}'


def test_what_would_become_a_live_mention_or_command_is_broken() -> None:
    assert shown("@durov") == f"{FSI}@{BREAK}durov{PDI}"
    assert shown("/pause") == f"{FSI}/{BREAK}pause{PDI}"
    assert shown("evil.com") == f"{FSI}evil{BREAK}.com{PDI}"
    assert clean(f"@{BREAK}durov") == "@durov"


def test_marks_are_thinned_and_the_rest_is_cut_where_readers_see_letters() -> None:
    tamed = clean(ZALGO)
    assert tamed.count("…") == 1
    assert len(tamed) <= LONGEST_GRAPHEMES * 3
    assert clean("x" * 24) == "x" * 24
    assert clean("x" * 25) == "x" * 23 + "…"
    assert clean("👨‍👩‍👧‍👦" * 16).rstrip("…") == "👨‍👩‍👧‍👦" * 5


@pytest.mark.parametrize(
    "name", ["José", "Zoë", "Дмитрий", "محمد", "שָׁלוֹם", "नमस्ते", "ธีรศิลป์", "김철수", "👩🏽‍🚀 Ada", "O'Neil-Smith"]
)
def test_ordinary_names_stay_as_they_are(name: str) -> None:
    assert clean(name) == name


@pytest.mark.parametrize("name", [*HOSTILE, "José", "नमस्ते", " two  words "])
def test_cleaning_twice_changes_nothing(name: str) -> None:
    assert clean(clean(name)) == clean(name)


@pytest.mark.case("T18")
@pytest.mark.parametrize(
    "first", ["", "\u3164", "\u200b", "\u2800\u2800", "\u00ad\ufeff", "\u0301\u0302", "\u202e \u2066"]
)
def test_a_name_that_shows_nothing_becomes_a_neutral_one(first: str) -> None:
    assert account_name(first, None, 123456789) == "Player 6789"
    assert plain(read_html(shown(first))) == f"{FSI}Player{PDI}"


@pytest.mark.case("T18")
async def test_nobody_is_ever_called_at_none(stage: Stage) -> None:
    await stage.say("/newgame")
    await stage.told()
    for number, first in ((5006, "\u3164"), (5007, "\u200b")):
        await stage.say(await stage.near_miss(), person(number, first))
    assert sorted(await stage.told()) == ["🟢 Player 5006: 560 / 600 (93%)", "🟢 Player 5007: 560 / 600 (93%)"]


def test_first_and_last_name_go_together() -> None:
    assert account_name("Ana", "García", 1) == "Ana García"
    assert account_name(" ", "García", 1) == "García"


@pytest.mark.case("T17")
@pytest.mark.parametrize("first", HOSTILE)
async def test_a_hostile_name_breaks_no_screen(stage: Stage, first: str) -> None:
    vandal = person(666, first, last_name="_*[x](")
    hall = group(GROUP, f"<i>{first}")
    stage.api.admins.add((GROUP, 666))
    await stage.say("/newgame fruits", vandal, hall)
    await stage.say(await stage.near_miss(), vandal, hall)
    await stage.say(await stage.near_miss(), ANA, hall)
    await stage.told()
    for command in (
        "/board",
        "/me",
        "/start",
        "/help",
        "/rules",
        "/newgame",
        "/limit 2",
        "/limit x",
        "/pause",
        "/resume",
    ):
        await stage.say(command, vandal, hall)
    await stage.say(await stage.secret(), vandal, hall)
    await stage.told()
    name = clean(f"{first} _*[x](")
    shown_as_text = [text for text in stage.api.history if name in plain(read_html(text)).replace(BREAK, "")]
    screens = ("cracked it!", "📊", "👤", "🏁", ": 560")
    for screen in screens:
        assert any(screen in text for text in shown_as_text), screen
    for text in stage.api.history:
        assert plain(read_html(text)).count(FSI) == plain(read_html(text)).count(PDI)
