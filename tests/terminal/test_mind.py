"""Simulated players think well enough to be company, and only with what they were told."""

from __future__ import annotations

import random

import pytest

from bot.terminal.mind import Mind
from engine.game.scoring import WINNING_TOTAL, score
from engine.game.themes import THEMES

KEYS = THEMES["fruits"].emoji[:16]


def guesses_needed(effort: int, seed: int) -> int:
    chance = random.Random(seed)  # noqa: S311 - repeatable is what it is for
    mind = Mind(chance, effort)
    mind.begin(KEYS)
    secret = chance.sample(KEYS, 6)
    for number in range(1, 400):
        guess = mind.guess()
        total = score(secret, guess).total
        if total == WINNING_TOTAL:
            return number
        mind.learn(guess, total)
    pytest.fail("it never found it")


def test_a_careful_player_cracks_it_in_a_score_of_guesses() -> None:
    needed = [guesses_needed(500, seed) for seed in range(20)]
    assert sum(needed) / len(needed) < 20


def test_a_careless_one_takes_longer() -> None:
    assert sum(guesses_needed(120, seed) for seed in range(10)) > sum(guesses_needed(500, seed) for seed in range(10))


def test_nothing_is_guessed_twice_and_a_new_round_is_thought_about_afresh() -> None:
    mind = Mind(random.Random(1), 50)  # noqa: S311 - repeatable is what it is for
    mind.begin(KEYS)
    guessed = []
    for _ in range(40):
        guessed.append(mind.guess())
        mind.learn(guessed[-1], 300)
    assert len(set(guessed)) == len(guessed)
    mind.begin(KEYS[::-1])
    assert set(mind.guess()) <= set(KEYS)
