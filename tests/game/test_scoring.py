"""Scoring: the design's table, and what holds for every secret and guess."""

from __future__ import annotations

import itertools
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.game.scoring import Scorer, percent, score

TABLE = {
    "abcdef": (600, 100),
    "bacdef": (560, 93),
    "abcfde": (520, 87),
    "xbcdef": (500, 83),
    "badcfe": (480, 80),
    "bcaefd": (440, 73),
    "cccccc": (420, 70),
    "fbcdea": (400, 67),
    "bcdefa": (400, 67),
    "aaaaaa": (300, 50),
    "abcxxx": (300, 50),
    "fedcba": (240, 40),
    "defabc": (240, 40),
    "axxxxx": (100, 17),
    "xxxxxx": (0, 0),
}
LETTERS = string.ascii_lowercase
SECRETS = st.permutations(LETTERS).map(lambda letters: "".join(letters[:6]))
GUESSES = st.text(LETTERS, min_size=6, max_size=6)


@pytest.mark.parametrize(("guess", "expected"), TABLE.items())
def test_the_designs_table_is_scored(guess: str, expected: tuple[int, int]) -> None:
    scored = score("abcdef", guess)
    assert (scored.total, scored.percent) == expected
    assert scored.cracked is (guess == "abcdef")


@given(SECRETS, GUESSES)
def test_a_total_is_the_sum_of_what_each_place_is_worth(secret: str, guess: str) -> None:
    worth = [100 - 20 * abs(place - secret.index(code)) if code in secret else 0 for place, code in enumerate(guess)]
    assert score(secret, guess).total == sum(worth)


@given(SECRETS, GUESSES)
def test_a_total_is_a_multiple_of_20_from_0_to_600(secret: str, guess: str) -> None:
    total = score(secret, guess).total
    assert total % 20 == 0
    assert 0 <= total <= 600


@given(SECRETS, SECRETS)
def test_only_the_secret_itself_cracks_it(secret: str, guess: str) -> None:
    assert score(secret, guess).cracked is (guess == secret)
    assert score(secret, secret).total == 600


def test_only_the_secret_cracks_it_among_all_orders_and_near_misses() -> None:
    scorer = Scorer("abcdef")
    cracking = [guess for guess in itertools.product("abcdef", repeat=6) if scorer.score(guess).cracked]
    assert cracking == [tuple("abcdef")]


@given(SECRETS, st.integers(0, 5), st.sets(st.integers(0, 5), min_size=1))
def test_a_repeated_emoji_scores_at_each_of_its_places_alone(secret: str, home: int, places: set[int]) -> None:
    def with_it_at(where: set[int]) -> list[str]:
        return [secret[home] if place in where else "absent" for place in range(6)]

    together = score(secret, with_it_at(places)).total
    assert together == sum(score(secret, with_it_at({place})).total for place in places)


@given(SECRETS, st.lists(GUESSES, max_size=5))
def test_a_scorer_answers_as_the_function_does_however_often_it_is_asked(secret: str, guesses: list[str]) -> None:
    scorer = Scorer(secret)
    assert [scorer.score(guess) for guess in guesses] == [score(secret, guess) for guess in guesses]


def test_a_percent_is_a_sixth_of_the_total_rounded_half_up() -> None:
    assert {total: percent(total) for total in (0, 3, 2, 20, 100, 400, 597, 596, 600)} == {
        0: 0,
        2: 0,
        3: 1,
        20: 3,
        100: 17,
        400: 67,
        596: 99,
        597: 100,
        600: 100,
    }


@pytest.mark.parametrize("secret", ["", "abcde", "abcdefg", "abcdea"])
def test_what_is_no_secret_is_refused_without_naming_it(secret: str) -> None:
    with pytest.raises(ValueError, match=r"a secret is 6 different emoji codes, got \d codes$"):
        Scorer(secret)


@pytest.mark.parametrize("guess", ["", "abcde", "abcdefg"])
def test_a_guess_that_is_not_six_codes_is_refused(guess: str) -> None:
    with pytest.raises(ValueError, match="a guess is 6 emoji codes"):
        score("abcdef", guess)
