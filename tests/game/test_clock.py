"""The round's clock: a pause costs it nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.game.clock import is_due, pause_clock, remaining_ms, resume_clock
from engine.game.model import CloseReason, RoundState
from tests.game.making import a_round

CLOSING = {"state": RoundState.CLOSING, "closing_seq": 5, "close_reason": CloseReason.CRACKED}
SETTLED = {**CLOSING, "state": RoundState.SETTLED}


def test_a_round_is_due_at_its_deadline_and_not_before() -> None:
    round_ = a_round(deadline_ms=601_000)
    assert [is_due(round_, now_ms) for now_ms in (600_999, 601_000, 601_001)] == [False, True, True]
    assert [remaining_ms(round_, now_ms) for now_ms in (1_000, 600_999, 601_000, 700_000)] == [600_000, 1, 0, 0]


def test_a_stopped_clock_keeps_what_it_had() -> None:
    stopped = pause_clock(a_round(deadline_ms=601_000), 101_000)
    assert (stopped.deadline_ms, stopped.remaining_ms) == (None, 500_000)
    assert remaining_ms(stopped, 10**15) == 500_000
    assert not is_due(stopped, 10**15)


def test_a_resumed_clock_goes_on_with_what_it_had() -> None:
    resumed = resume_clock(a_round(deadline_ms=None, remaining_ms=500_000), 900_000)
    assert (resumed.deadline_ms, resumed.remaining_ms) == (1_400_000, None)


def test_a_clock_stopped_after_its_time_is_due_as_soon_as_it_goes_on() -> None:
    stopped = pause_clock(a_round(deadline_ms=601_000), 700_000)
    assert stopped.remaining_ms == 0
    assert is_due(resume_clock(stopped, 800_000), 800_000)


def test_stopping_twice_or_resuming_twice_changes_nothing() -> None:
    running = a_round()
    stopped = pause_clock(running, 101_000)
    assert pause_clock(stopped, 202_000) == stopped
    assert resume_clock(running, 101_000) == running


@pytest.mark.parametrize("state", [CLOSING, SETTLED])
def test_a_round_that_is_no_longer_open_has_no_clock(state: dict[str, object]) -> None:
    round_ = a_round(**state)
    assert remaining_ms(round_, 2_000) is None
    assert not is_due(round_, 10**15)
    assert pause_clock(round_, 2_000) == round_
    assert resume_clock(round_, 2_000) == round_
    stopped = a_round(**state, deadline_ms=None, remaining_ms=5)
    assert resume_clock(stopped, 2_000) == stopped


@given(st.lists(st.tuples(st.integers(0, 100_000), st.integers(0, 10**9)), max_size=5))
def test_however_often_it_is_paused_a_round_runs_for_its_minutes(pauses: list[tuple[int, int]]) -> None:
    """Each pause comes after so many ms of play, and lasts so long; together they play less than the round has."""
    round_, now_ms, played_ms = a_round(opened_ms=0, deadline_ms=600_000), 0, 0
    for play_ms, pause_ms in pauses:
        now_ms += play_ms
        played_ms += play_ms
        round_ = pause_clock(round_, now_ms)
        now_ms += pause_ms
        round_ = resume_clock(round_, now_ms)
    assert remaining_ms(round_, now_ms) == 600_000 - played_ms
