"""``codemojex lanes`` called wrongly, or on what is not there: one line says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.lanes import Desk
from tests.cli.program import Done

NOBODY = "ROM0KHTOWnGLuC"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("weight", NOBODY, "3"), "no room is called"),
        (("pause", NOBODY), "no room is called"),
        (("hold", NOBODY, "3s"), "no room is called"),
        (("drain", NOBODY, "--yes"), "no room is called"),
        (("forget", NOBODY, "--yes"), "no room is called"),
        (("plan", "give", "gold", NOBODY), "no room is called"),
        (("plan", "drop", "gold", "--yes"), "no plan is called"),
        (("plan", "set", "Gold"), "a-z"),
        (("reassign", "JOB0KHTOWnGLuC", NOBODY, "--lane", "PLR0KHTOWnGLuC", "--yes"), "no room is called"),
    ],
)
def test_what_is_not_there_is_told_in_one_line(desk: Desk, arguments: tuple[str, ...], part: str) -> None:
    done = desk.refused(*arguments)
    assert (done.code, done.out) == (1, "")
    assert part in done.line


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("weight", "nonsense", "3"), "GROUP must be a ROM id"),
        (("weight", "CHT0KHTOWnGLuC", "3"), "GROUP must be a ROM id"),
        (("weight", NOBODY, "3", "--queue", "cm.notify"), "GROUP must be a CHT id"),
        (("weight", NOBODY, "0"), "none nor a whole number from 1"),
        (("weight", NOBODY, "1000000001"), "none nor a whole number from 1"),
        (("limit", NOBODY, "3.5"), "none nor a whole number from 1"),
        (("cap", NOBODY, "3", "--lane", "x"), "none nor a whole number from 1"),
        (("hold", NOBODY, "5"), "none nor a time"),
        (("hold", NOBODY, "367d"), "none nor a time"),
        (("drain", NOBODY, "--lane", "x", "--yes"), "--lane must be a PLR id"),
        (("redrive", "--job", "x"), "job_id must be a JOB id"),
        (("reap", "--limit", "0"), "--limit"),
        (("plan", "give", "gold", "x"), "ROOM must be a ROM id"),
        (("status", "--queue", "cm.other"), "Invalid value for '--queue': 'cm.other' is not one of"),
        (("status", "--top", "0"), "--top"),
        (("nonsense",), "nonsense"),
    ],
)
def test_a_wrong_call_is_told_in_one_line(desk: Desk, arguments: tuple[str, ...], part: str) -> None:
    done = desk.refused(*arguments)
    assert (done.code, done.out) == (2, "")
    assert part in done.line


def test_redis_without_a_database_says_which_one_it_misses(
    tmp_path: Path, call: Callable[..., Done], redis_url: str
) -> None:
    done = call("lanes", "status", "--data-dir", tmp_path / "data", REDIS_URL=redis_url)
    assert done.code == 2
    assert "DATABASE_URL" in done.line
    assert not list(tmp_path.iterdir())


def test_a_database_that_was_never_migrated_is_left_alone(
    call: Callable[..., Done], redis_url: str, sqlite_url: str
) -> None:
    done = call("lanes", "plans", REDIS_URL=redis_url, DATABASE_URL=sqlite_url.replace("+aiosqlite", ""))
    assert done.code == 1
    assert "codemojex migrate" in done.line
