"""The words: every notice has some, they parse, they fit, and they keep what is secret."""

from __future__ import annotations

import re
import subprocess
from itertools import product

import pytest

from bot.terminal.markup import plain, read_html
from bot.texts import ENGLISH, Scene, word
from bot.texts.english.words import ordinal, span
from engine.game.commitment import commit
from engine.game.model import CloseReason, RoundState
from engine.game.notices import (
    Answer,
    Board,
    LeverPulled,
    Line,
    Notice,
    Page,
    PageShown,
    Profile,
    Refusal,
    Refused,
    RoundOpened,
    RoundRevealed,
)
from engine.game.themes import THEMES, theme
from engine.ids import Minter, PlayerId, RoundId

minter = Minter(3)
ANA, BEN = PlayerId(minter.mint("PLR")), PlayerId(minter.mint("PLR"))
ROUND = RoundId(minter.mint("GAM"))
NAMES = {ANA: "Ana", BEN: "Ben"}
NONCE = "00112233445566778899aabbccddeeff"
SCENES = [
    Scene(private=private, hears_all=hears_all, names=NAMES) for private, hears_all in product((True, False), repeat=2)
]
HALL = Scene(private=False, names=NAMES)


def refused(reason: Refusal) -> Refused:
    return Refused(reason, got=5, wanted=6, words=("🚗", "<b>"), eta_ms=90_000)


def opened(theme_name: str = "fruits") -> RoundOpened:
    return RoundOpened(ROUND, 3, theme_name, theme(theme_name).codes[:16], "ab" * 32, 10)


def board(state: RoundState, *, paused: bool = False, lines: tuple[Line, ...] = ()) -> Board:
    remaining_ms = 61_000 if state is RoundState.OPEN else None
    codes = theme("fruits").codes[:16]
    return Board(
        3, "fruits", codes, state, paused, remaining_ms, lines, len(lines), sum(line.guesses for line in lines)
    )


def revealed(reason: CloseReason = CloseReason.CRACKED, winner: PlayerId | None = ANA) -> RoundRevealed:
    secret = theme("fruits").codes[3:9]
    lines = (Line(1, ANA, 600, 100, 2), Line(2, BEN, 560, 93, 1))
    return RoundRevealed(ROUND, 3, "fruits", reason, winner, secret, NONCE, commit(secret, NONCE), lines)


EVERY: list[Notice] = [
    Answer(ANA, 560, 93, counted=True),
    Answer(ANA, 0, 0, counted=True),
    Answer(ANA, 600, 100, counted=True),
    Answer(ANA, 600, 100, counted=False),
    *(opened(name) for name in THEMES),
    *(revealed(reason, winner) for reason in CloseReason for winner in (ANA, None)),
    *(board(state, paused=paused) for state in RoundState for paused in (True, False)),
    board(RoundState.OPEN, lines=(Line(1, ANA, 600, 100, 2), Line(11, BEN, 0, 0, 1))),
    Profile(ANA, None, 0, 0, 0, 0),
    Profile(ANA, Line(2, ANA, 480, 80, 4), 7, 12, 600, 1),
    *(refused(reason) for reason in Refusal),
    *(Refused(reason) for reason in Refusal),
    LeverPulled("pause", waiting=3),
    LeverPulled("pause"),
    LeverPulled("resume", waiting=1),
    LeverPulled("limit", limit=1),
    *(PageShown(page) for page in Page),
]


@pytest.mark.parametrize("notice", EVERY, ids=lambda notice: notice.kind)
def test_every_notice_has_words_that_telegram_can_read(notice: Notice) -> None:
    for scene in SCENES:
        text = plain(read_html(word(notice, scene, ENGLISH)))
        assert text.strip() == text
        assert len(text.encode("utf-16-le")) // 2 < 2048
        assert "None" not in text


def test_an_answer_is_name_total_and_percent() -> None:
    text = word(Answer(ANA, 560, 93, counted=True), HALL, ENGLISH)
    assert plain(read_html(text)) == "🟢 \u2068Ana\u2069: 560 / 600 (93%)"


def test_an_answer_shows_no_guess() -> None:
    answered = word(Answer(ANA, 560, 93, counted=True), HALL, ENGLISH)
    assert not any(emoji in answered for theme_ in THEMES.values() for emoji in theme_.emoji)


def test_the_keyboard_stands_in_rows_of_eight() -> None:
    text = plain(read_html(word(opened(), HALL, ENGLISH)))
    keys = theme("fruits").emoji
    assert "\n" + " ".join(keys[:8]) + "\n" + " ".join(keys[8:16]) + "\n" in text
    assert "ab" * 32 in text
    assert "10 min" in text


def test_only_a_reveal_shows_a_nonce() -> None:
    assert all(NONCE not in word(notice, HALL, ENGLISH) for notice in EVERY if not isinstance(notice, RoundRevealed))


def test_the_seal_can_be_checked_in_a_shell_with_what_the_reveal_shows() -> None:
    notice = revealed()
    text = plain(read_html(word(notice, HALL, ENGLISH)))
    assert notice.commitment in text
    command = re.search(r"^printf .*$", text, re.MULTILINE)
    assert command is not None
    hashed = subprocess.run(  # noqa: S603 - our own words, made from the constants above
        ["/bin/sh", "-c", command[0]], check=True, capture_output=True, text=True, timeout=10
    )
    assert hashed.stdout.split()[0] == notice.commitment


def test_a_refusal_speaks_of_its_numbers() -> None:
    def text(notice: Refused) -> str:
        return plain(read_html(word(notice, HALL, ENGLISH)))

    assert "5 emoji, and a guess has 6" in text(Refused(Refusal.WRONG_COUNT, got=5, wanted=6))
    assert "I see 1 emoji," in text(Refused(Refusal.WRONG_COUNT, got=1, wanted=6))
    assert "🚗" in text(Refused(Refusal.UNKNOWN_EMOJI, words=("🚗",)))
    assert "in about 2 min" in text(Refused(Refusal.ROOM_FULL, got=500, wanted=500, eta_ms=61_000))
    assert "9 is more" in text(Refused(Refusal.LIMIT_ABOVE_ALLOWED, got=9, wanted=8))
    assert "/limit 8" in text(Refused(Refusal.LIMIT_ABOVE_ALLOWED, got=9, wanted=8))
    assert all(name in text(Refused(Refusal.UNKNOWN_THEME, words=tuple(THEMES))) for name in THEMES)


def test_a_player_without_a_name_is_still_somebody() -> None:
    assert "Player" in word(Answer(ANA, 0, 0, counted=True), Scene(private=False), ENGLISH)


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "1 s"),
        (59_001, "1 min"),
        (60_000, "1 min"),
        (60_001, "2 min"),
        (3_600_000, "1 h"),
        (5_400_000, "1 h 30 min"),
    ],
)
def test_a_span_is_rounded_up(ms: int, text: str) -> None:
    assert span(ms) == text


def test_places_have_their_english_endings() -> None:
    assert [ordinal(rank) for rank in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th",
    ]  # fmt: skip
