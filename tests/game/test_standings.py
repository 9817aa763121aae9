"""The order of the standings."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.game.model import Standing
from engine.game.notices import Line
from engine.game.standings import rank
from engine.ids import PlayerId, brand


def standing(number: int, best_total: int, best_seq: int, guesses: int = 1) -> Standing:
    return Standing(PlayerId(brand("PLR", number)), best_total, best_seq, guesses)


STANDINGS = st.lists(
    st.builds(
        standing, st.integers(0, 10**6), st.integers(0, 30).map(lambda steps: 20 * steps), st.integers(1, 10**16)
    ),
    unique_by=(lambda each: each.player, lambda each: each.best_seq),
)


def test_the_best_total_comes_first_and_then_the_smaller_seq() -> None:
    lines = rank([standing(1, 400, 9), standing(2, 560, 30, 4), standing(3, 400, 2), standing(4, 0, 1)])
    assert lines == (
        Line(1, PlayerId(brand("PLR", 2)), 560, 93, 4),
        Line(2, PlayerId(brand("PLR", 3)), 400, 67, 1),
        Line(3, PlayerId(brand("PLR", 1)), 400, 67, 1),
        Line(4, PlayerId(brand("PLR", 4)), 0, 0, 1),
    )


def test_nobody_has_guessed_yet() -> None:
    assert rank([]) == ()


@given(STANDINGS, st.randoms(use_true_random=False))
def test_the_order_owes_nothing_to_the_order_they_came_in(standings: list[Standing], chance: object) -> None:
    shuffled = list(standings)
    chance.shuffle(shuffled)  # type: ignore[attr-defined] # Hypothesis' random.Random, untyped
    assert rank(shuffled) == rank(standings)


@given(STANDINGS)
def test_everyone_has_one_line_and_one_rank(standings: list[Standing]) -> None:
    lines = rank(standings)
    assert [line.rank for line in lines] == list(range(1, len(standings) + 1))
    assert {line.player for line in lines} == {each.player for each in standings}
