"""Photo finish: who is first, what still counts, and when it may be told."""

from __future__ import annotations

import pytest

from engine.game.finish import counts, crack_seq, is_finished, last_seq
from engine.game.model import CloseReason, Round, RoundState
from tests.game.making import a_round


def closing(seq: int, reason: CloseReason = CloseReason.CRACKED) -> Round:
    return a_round(state=RoundState.CLOSING, closing_seq=seq, close_reason=reason)


def test_the_crack_with_the_smallest_seq_wins_whatever_came_first() -> None:
    assert crack_seq([(9, 600), (3, 580), (7, 600), (8, 600)]) == 7


def test_without_a_crack_nobody_wins() -> None:
    assert crack_seq([(1, 580), (2, 0)]) is None
    assert crack_seq([]) is None


def test_in_an_open_round_everything_counts() -> None:
    assert last_seq(a_round(), None) is None
    assert counts(a_round(), 10**16)


def test_a_crack_ends_an_open_round_for_what_was_accepted_after_it() -> None:
    assert [counts(a_round(), seq, crack=7) for seq in (6, 7, 8)] == [True, True, False]


def test_an_earlier_crack_brings_the_end_forward_and_a_later_one_does_not() -> None:
    assert last_seq(closing(7), 5) == 5
    assert last_seq(closing(7), 9) == 7
    assert last_seq(closing(7), None) == 7
    assert [counts(closing(7), seq, crack=5) for seq in (5, 6)] == [True, False]


@pytest.mark.parametrize("reason", [CloseReason.EXPIRED, CloseReason.ENDED])
def test_a_round_ended_by_clock_or_admin_counts_all_that_was_accepted_by_then(reason: CloseReason) -> None:
    assert [counts(closing(7, reason), seq, crack=5) for seq in (6, 7, 8)] == [True, True, False]


def test_nothing_counts_in_a_settled_round() -> None:
    settled = a_round(state=RoundState.SETTLED, closing_seq=7, close_reason=CloseReason.CRACKED)
    assert not counts(settled, 1)


def test_a_closing_round_is_finished_once_the_oldest_guess_has_passed_its_end() -> None:
    assert [is_finished(closing(7), oldest) for oldest in (6, 7, 8, None)] == [False, False, True, True]


def test_only_a_closing_round_can_be_finished() -> None:
    assert not is_finished(a_round(), None)
    assert not is_finished(a_round(state=RoundState.SETTLED, closing_seq=7), None)
