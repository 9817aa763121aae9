"""The bounded memory forgets the least recent, and only that."""

from __future__ import annotations

import pytest

from engine.game.recent import Recent


def test_the_least_recently_used_value_goes_first() -> None:
    recent: Recent[str, int] = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)
    assert recent.get("a") == 1
    recent.put("c", 3)
    assert (recent.get("a"), recent.get("b"), recent.get("c")) == (1, None, 3)


def test_it_never_holds_more_than_its_size() -> None:
    recent: Recent[int, int] = Recent(3)
    for number in range(100):
        recent.put(number % 7, number)
        assert len(recent) <= 3


def test_a_size_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Recent(0)
