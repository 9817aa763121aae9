"""The figures of a report, from raw material whose outcome is known."""

from __future__ import annotations

import time
from typing import Any

import pytest

from bot.flood.bounds import Bounds
from bot.flood.plan import BadPlan, Plan
from bot.flood.report import figures, report
from bot.flood.samples import FLOODED, Clock, Fate, Guess, Look, Memory, Phase, Record, jain, percentile

PLAN = Plan()


def guess(room: int, phase: Phase, due_ms: float, took_ms: float | None = None, **fields: Any) -> Guess:
    made = Guess(room, phase, due_ms, **fields)
    if took_ms is not None:
        made.fate, made.scored_ms = Fate.SCORED, due_ms + took_ms
    return made


def record(*guesses: Guess, **fields: Any) -> Record:
    return Record(guesses=list(guesses), **fields)


def look(servable: int, granted: int, flooded: int = 0) -> Look:
    return Look(0.0, Phase.FLOOD, 0, 0, servable, granted, flooded, flooded, 0)


def test_a_percentile_is_one_of_the_values() -> None:
    values = [float(value) for value in range(1, 101)]
    assert [percentile(values, share) for share in (0.5, 0.95, 0.99, 1.0)] == [50, 95, 99, 100]
    assert percentile([3.0], 0.99) == 3
    assert percentile([], 0.5) is None


def test_jain_tells_alike_from_unlike() -> None:
    assert jain([0.7, 0.7, 0.7]) == pytest.approx(1)
    assert jain([1.0, 0.0, 0.0, 0.0]) == pytest.approx(0.25)
    assert jain([]) is None


def test_the_ratio_is_the_flood_s_over_even_load_s_and_of_quiet_rooms_alone() -> None:
    told = figures(
        record(
            guess(1, Phase.FLOOD, 0, 30),
            guess(FLOODED, Phase.FLOOD, 0, 9_000),
            guess(1, Phase.EVEN, 0, 20),
            guess(FLOODED, Phase.EVEN, 0, 9_000),
        )
    )
    assert told["quiet_p99_ratio"] == pytest.approx(1.5)
    assert told["quiet_p99_ms_idle"] is None


def test_every_guess_has_one_fate_in_the_sums() -> None:
    told = figures(
        record(
            guess(1, Phase.IDLE, 0, 5),
            guess(FLOODED, Phase.FLOOD, 0, fate=Fate.REFUSED, eta_ms=100),
            guess(FLOODED, Phase.FLOOD, 0, fate=Fate.REFUSED),
            guess(1, Phase.IDLE, 0, fate=Fate.LOST),
            guess(1, Phase.IDLE, 0),
        )
    )
    assert [told[name] for name in ("sent", "scored", "refused", "refused_told", "lost", "untaken")] == [
        5,
        1,
        2,
        1,
        1,
        1,
    ]


def test_a_worker_is_idle_where_work_could_be_served_and_none_was_given_since_the_last_look() -> None:
    told = figures(record(looks=[look(2, 10), look(2, 10), look(2, 11), look(0, 11), look(0, 11)]))
    assert told["idle_while_work_waited"] == 1


def test_an_eta_is_held_against_when_so_many_more_were_scored() -> None:
    scored = [guess(FLOODED, Phase.FLOOD, at * 100.0, 0) for at in range(1, 11)]
    refused = guess(FLOODED, Phase.FLOOD, 0, fate=Fate.REFUSED, refused_ms=250.0, eta_ms=500, behind=5)
    # Five more after 250 ms are done at 700 ms: 450 ms, and 500 were told.
    assert figures(record(*scored, refused))["eta_error"] == pytest.approx(500 / 450 - 1)


def test_memory_grows_by_what_the_flood_s_second_half_has_more() -> None:
    sizes = [Memory(0.0, Phase.FLOOD, redis, {"bot": 100}) for redis in (50, 100, 110, 120)]
    assert figures(record(memory=sizes))["memory_growth"] == {"redis": pytest.approx(1.2), "bot": 1.0}


def test_bounds_name_what_they_found() -> None:
    told = report(PLAN, record(guess(1, Phase.FLOOD, 0, 30), guess(1, Phase.EVEN, 0, 20), double=1), None)
    bounds = Bounds(ratio=1.25, quiet_p99_ms=40, jain=0.9, done_at_service=104, exactly_once=True)
    assert list(bounds.broken(told)) == [
        "quiet_p99_ratio is 1.5, and must be at most 1.25",
        "quiet_done_at_service is not measured, and must be at most 104",
        "double is 1, and must be at most 0",
    ]


def test_the_ceiling_binds_the_flooded_room() -> None:
    told = report(PLAN, record(looks=[look(1, 1, flooded=9)]), None)
    assert list(Bounds(ceiling=True).broken(told)) == ["max_in_flight_flooded is 9, and must be at most 8"]


def test_while_backlogs_are_laid_only_what_is_in_flight_is_looked_at() -> None:
    laid = Look(0.0, Phase.TURNS, 600, 9, 3, 1, 9, 9, 5_000)
    told = figures(record(looks=[look(1, 1, flooded=2), laid, laid]))
    assert told["max_in_flight_flooded"] == 9
    assert [told[name] for name in ("max_in_flight", "max_depth", "max_starvation_ms", "looks")] == [2, 0, 0, 1]
    assert told["idle_while_work_waited"] == 0


@pytest.mark.parametrize(
    ("bounds", "plan", "says"),
    [
        (Bounds(jain=1.2), PLAN, "--assert-jain 1.2"),
        (Bounds(ratio=0), PLAN, "--assert-ratio 0"),
        (Bounds(done_at_service=0), PLAN, "--assert-done-at-service 0"),
        (Bounds(quiet_p99_ms=5), Plan(engine=True, job_ms=50), "contradicts --job-ms 50"),
        (Bounds(ceiling=True), Plan(engine=True, workers=2, ceiling=16), "can't be broken"),
    ],
)
def test_a_bound_that_nothing_can_keep_is_refused(bounds: Bounds, plan: Plan, says: str) -> None:
    with pytest.raises(BadPlan, match=says):
        bounds.check(plan)


@pytest.mark.parametrize(
    "wrong", [{"quiet_rooms": 0}, {"seconds": 1.0}, {"flood_guesses": 0}, {"quiet_rate": float("nan")}]
)
def test_a_plan_that_can_t_be_played_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadPlan, match="can't be played"):
        Plan(**wrong)


def test_what_is_scored_when_the_flood_is_over_was_not_served_in_it() -> None:
    """However starved, a quiet room is served at last: counted without a border, the index would always be 1."""
    border = {"began_ms": {Phase.FLOOD: 0.0}, "over_ms": {Phase.FLOOD: 1_000.0}}
    starved, served = guess(1, Phase.FLOOD, 0, 2_000), guess(2, Phase.FLOOD, 0, 10)
    assert figures(record(starved, served, **border))["jain_index"] == pytest.approx(0.5)
    assert figures(record(starved, **border))["jain_index"] is None


def test_what_the_flood_left_behind_is_no_part_of_its_pace() -> None:
    border = {"began_ms": {Phase.FLOOD: 0.0}, "over_ms": {Phase.FLOOD: 1_000.0}}
    played = record(*(guess(FLOODED, Phase.FLOOD, 0, took_ms) for took_ms in (10, 999, 1_001, 9_000)), **border)
    assert played.scored_within(Phase.FLOOD) == 2
    assert played.scored_within(Phase.EVEN) == 0
    assert figures(played)["phases"]["flood"]["scored_a_second"] == pytest.approx(2)


def test_a_second_pass_that_ended_early_is_no_success() -> None:
    told = report(PLAN, record(), record(ended="Valkey ended during flood"))
    assert told["ended"] == "Valkey ended during flood, on the one line"


def test_a_wall_clock_that_is_set_moves_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    began_ms = time.time() * 1_000
    assert clock.of_wall(began_ms) == pytest.approx(began_ms, abs=5)
    ahead_ms = 8_600.0
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + ahead_ms / 1_000)
    clock.notice()
    assert clock.of_wall(time.time() * 1_000) == pytest.approx(clock.now_ms(), abs=5)
    assert clock.of_wall(began_ms) == pytest.approx(began_ms, abs=5)
    assert clock.stepped_ms == pytest.approx(ahead_ms, abs=5)


def test_an_even_load_that_is_not_kept_up_with_is_held_against_nothing() -> None:
    told = record(guess(1, Phase.FLOOD, -99, 30), guess(1, Phase.EVEN, 0, 20), guess(2, Phase.EVEN, 0, 9_000))
    told.began_ms[Phase.EVEN], told.over_ms[Phase.EVEN] = 0.0, 1_000.0
    assert figures(told)["quiet_p99_ratio"] is None
