"""Updates that fail by themselves are counted, kept once they are set aside, and not for ever."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from engine.store import aside
from engine.store.aside import COUNTED_MS, KEPT_MS, LONGEST_BODY, AsideUpdate, Failure
from engine.store.work import SqlUnits
from tests.store.making import read, write

MOST = 3
_names = itertools.count(1)


def a_failure(**given: Any) -> Failure:
    return Failure(
        **{"name": str(next(_names)), "kind": "message", "error": "LookupError", "body": "{}", "at_ms": 1_000, **given}
    )


async def fail(units: SqlUnits, failure: Failure, times: int = 1) -> int:
    attempts = 0
    for _ in range(times):
        attempts = await write(units, lambda unit: unit.aside.failed(failure, MOST))
    return attempts


async def names(units: SqlUnits) -> list[str]:
    return [each.name for each in await read(units, lambda unit: unit.aside.newest(100))]


async def test_it_is_set_aside_at_the_last_try_with_what_it_was(units: SqlUnits) -> None:
    first, last = a_failure(body='{"a": 1}'), 5_000
    assert await fail(units, first, MOST - 1) == MOST - 1
    assert await names(units) == []
    assert await fail(units, a_failure(name=first.name, error="KeyError", body='{"a": 1}', at_ms=last)) == MOST
    (kept,) = await read(units, lambda unit: unit.aside.newest(100))
    assert kept == AsideUpdate(first.name, "message", "KeyError", MOST, 1_000, last, last, '{"a": 1}')
    assert await read(units, lambda unit: unit.aside.get(first.name)) == kept
    assert await read(units, lambda unit: unit.aside.count()) == 1


async def test_counts_of_two_processes_are_one_count(units: SqlUnits, neighbour: SqlUnits) -> None:
    failure = a_failure()
    assert [await fail(each, failure) for each in (units, neighbour, units)] == [1, 2, 3]


async def test_what_comes_again_once_aside_stays_as_it_was(units: SqlUnits) -> None:
    failure = a_failure(body="first")
    await fail(units, failure, MOST)
    assert await fail(units, a_failure(name=failure.name, body="again", at_ms=9_000)) == MOST + 1
    (kept,) = await read(units, lambda unit: unit.aside.newest(100))
    assert (kept.body, kept.aside_ms, kept.last_ms, kept.attempts) == ("first", 1_000, 9_000, MOST + 1)


async def test_one_that_worked_after_all_begins_anew(units: SqlUnits) -> None:
    failure = a_failure()
    await fail(units, failure, MOST - 1)
    await write(units, lambda unit: unit.aside.mended(failure.name))
    assert await fail(units, failure) == 1


async def test_the_newest_come_first(units: SqlUnits) -> None:
    failures = [a_failure(at_ms=at_ms) for at_ms in (2_000, 3_000, 1_000)]
    for failure in failures:
        await fail(units, failure, MOST)
    assert await names(units) == [failures[at].name for at in (1, 0, 2)]


async def test_what_is_old_goes_with_the_next_failure(units: SqlUnits) -> None:
    counted, kept = a_failure(), a_failure()
    await fail(units, counted)
    await fail(units, kept, MOST)
    later = a_failure(at_ms=1_001 + COUNTED_MS)
    await fail(units, later)
    assert await names(units) == [kept.name]
    assert await fail(units, counted) == 1, "its count was forgotten"
    await fail(units, a_failure(at_ms=1_001 + KEPT_MS), MOST)
    assert kept.name not in await names(units)


async def test_no_more_are_kept_than_so_many(units: SqlUnits, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aside, "MOST_KEPT", 2)
    failures = [a_failure(at_ms=at_ms) for at_ms in (1_000, 2_000, 3_000)]
    for failure in failures:
        await fail(units, failure, MOST)
    assert await names(units) == [failures[2].name, failures[1].name]


async def test_whatever_came_is_kept_and_cut(units: SqlUnits) -> None:
    """No database keeps U+0000, no encoder takes half a pair, and nobody needs a megabyte."""
    failure = a_failure(body="\0\ud800" + "x" * LONGEST_BODY, error="E" * 100, kind="k" * 100, name="n" * 200)
    await fail(units, failure, MOST)
    (kept,) = await read(units, lambda unit: unit.aside.newest(1))
    assert kept.body == "\ufffd\ufffd" + "x" * (LONGEST_BODY - 2)


async def test_one_or_all_are_dropped_and_counts_are_not(units: SqlUnits) -> None:
    failures = [a_failure() for _ in range(3)]
    for failure in failures:
        await fail(units, failure, MOST)
    counted = a_failure()
    await fail(units, counted, MOST - 1)
    assert await write(units, lambda unit: unit.aside.drop(failures[0].name)) == 1
    assert await write(units, lambda unit: unit.aside.drop(counted.name)) == 0
    assert await write(units, lambda unit: unit.aside.drop(None)) == 2
    assert await names(units) == []
    assert await fail(units, counted) == MOST
