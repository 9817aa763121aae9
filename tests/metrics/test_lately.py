"""Who was served lately: exact for the groups that matter, and bounded whatever the number of groups."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from bot.metrics.lately import MOST_GROUPS, SLICE_S, SLICES, Lately

MINUTE_S = SLICE_S * SLICES


@dataclass
class Clock:
    """Stands until a test moves it."""

    now_s: float = 1_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def lately(clock: Clock) -> Lately:
    return Lately(clock)


def test_what_was_served_is_counted_by_group(lately: Lately) -> None:
    lately.note(["a", "b", "a"])
    lately.note(["a"])
    assert lately.counted() == ({"a": 3, "b": 1}, 0)


def test_what_was_served_over_a_minute_ago_is_forgotten(lately: Lately, clock: Clock) -> None:
    lately.note(["a"])
    clock.now_s += MINUTE_S - SLICE_S
    lately.note(["b"])
    assert lately.counted() == ({"a": 1, "b": 1}, 0)
    clock.now_s += SLICE_S
    assert lately.counted() == ({"b": 1}, 0)
    clock.now_s += MINUTE_S
    assert lately.counted() == ({}, 0), "also where nothing was served since"


def test_of_more_groups_than_it_keeps_the_most_served_are_exact_and_none_is_lost(lately: Lately) -> None:
    busy = [f"busy {number}" for number in range(10)]
    for turn in range(100):
        lately.note([*busy, *(f"once {turn} {number}" for number in range(200))])
    served, others = lately.counted()
    assert [served[group] for group in busy] == [100] * 10
    assert served.total() + others == 100 * 210
    assert others > 0


def test_its_memory_is_bounded(lately: Lately, clock: Clock) -> None:
    for turn in range(4 * SLICES):
        clock.now_s += SLICE_S
        for part in range(5):
            lately.note([f"{turn} {part} {number}" for number in range(MOST_GROUPS)])
    assert len(lately._slices) == SLICES
    assert max(len(each.served) for each in lately._slices) <= 2 * MOST_GROUPS
