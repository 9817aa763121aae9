"""A figure is as honest as what it is held against lets it be."""

from __future__ import annotations

import pytest

from benchmarks.figure import Bound, at_least, at_most, of_runs, times_at_least, times_at_most
from benchmarks.report import table


@pytest.mark.parametrize(
    ("bound", "value", "ok"),
    [
        (at_least(10), 10, True),
        (at_least(10), 9.9, False),
        (at_most(10), 10, True),
        (at_most(10), 10.1, False),
    ],
)
def test_a_bound_is_held_or_not(bound: Bound, value: float, *, ok: bool) -> None:
    assert of_runs("speed", "jobs/s", [value], bound=bound).ok is ok


@pytest.mark.parametrize(
    ("bound", "value", "ok"),
    [
        (times_at_least(8), 80, True),
        (times_at_least(8), 79, False),
        (times_at_most(1.25), 12.5, True),
        (times_at_most(1.25), 12.6, False),
    ],
)
def test_a_bound_of_a_ratio_binds_the_ratio(bound: Bound, value: float, *, ok: bool) -> None:
    assert of_runs("speed", "jobs/s", [value], against=[10], bound=bound).ok is ok


def test_the_median_counts_on_both_sides() -> None:
    figure = of_runs("speed", "jobs/s", [1, 100, 3], against=[9, 2, 1], bound=times_at_least(1.5))
    assert (figure.value, figure.against, figure.least, figure.most) == (3, 2, 1, 100)
    assert figure.ok


def test_without_the_other_side_a_figure_stands_alone_and_is_ok() -> None:
    figure = of_runs("speed", "jobs/s", [5], against=[], bound=times_at_least(8))
    assert figure.as_json() == {
        "name": "speed",
        "value": 5,
        "unit": "jobs/s",
        "against": None,
        "bound": 8,
        "ok": True,
    }


def test_a_figure_without_a_bound_is_ok_whatever_it_is() -> None:
    assert of_runs("speed", "jobs/s", [5], against=[500]).as_json()["bound"] is None
    assert of_runs("speed", "jobs/s", [5], against=[500]).ok


def test_a_figure_that_is_held_against_another_has_no_bound_of_its_own() -> None:
    with pytest.raises(ValueError, match="speed"):
        of_runs("speed", "jobs/s", [5], against=[4], bound=at_least(3))


def test_the_table_says_what_is_missed_and_what_could_not_be_held_against_anything() -> None:
    figures = [
        of_runs("reached", "us", [17], bound=at_most(18)),
        of_runs("missed", "us", [19], bound=at_most(18)),
        of_runs("alone", "us", [19], bound=times_at_most(1.25)),
        of_runs("printed", "us", [19], against=[1]),
    ]
    columns = {str(column.header): list(column.cells) for column in table(figures).columns}
    assert columns["ok"] == ["yes", "no", "no peer", ""]
    assert columns["to reach"] == ["<= 18", "<= 18", "<= 1.25 times", ""]
    assert columns["ratio"] == ["", "", "", "19.00"]
