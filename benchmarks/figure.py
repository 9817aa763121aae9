"""One measured figure beside what it is held against."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict


class FigureJson(TypedDict):
    """A figure as a program reads it; ``bound`` is of ``value / against`` where a figure is held against another."""

    name: str
    value: float
    unit: str
    against: float | None
    bound: float | None
    ok: bool


@dataclass(frozen=True, slots=True)
class Bound:
    """What a figure should reach.

    Args:
        limit: the bound itself.
        at_most: whether it is an upper one.
        of_ratio: whether it binds the figure over what that is held against, and not the figure itself.
    """

    limit: float
    at_most: bool
    of_ratio: bool

    def holds(self, number: float) -> bool:
        """Whether ``number`` is within it."""
        return number <= self.limit if self.at_most else number >= self.limit

    def __str__(self) -> str:
        return f"{'<=' if self.at_most else '>='} {shown(self.limit)}{' times' if self.of_ratio else ''}"


def at_least(limit: float) -> Bound:
    """The figure should be at least so much."""
    return Bound(limit, at_most=False, of_ratio=False)


def at_most(limit: float) -> Bound:
    """The figure should be at most so much."""
    return Bound(limit, at_most=True, of_ratio=False)


def times_at_least(limit: float) -> Bound:
    """The figure should be at least so many times the other side's."""
    return Bound(limit, at_most=False, of_ratio=True)


def times_at_most(limit: float) -> Bound:
    """The figure should be at most so many times the other side's."""
    return Bound(limit, at_most=True, of_ratio=True)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of one run.

    Args:
        name: what was measured, and how.
        value: the median.
        unit: of ``value`` and ``against``.
        against: the other side, measured in the same run; None where there is none, or it isn't installed.
        bound: what should be reached; None for a figure that is only printed.
        least: the smallest of the runs.
        most: the largest of the runs.
    """

    name: str
    value: float
    unit: str
    against: float | None
    bound: Bound | None
    least: float
    most: float

    @property
    def ratio(self) -> float | None:
        """``value`` over ``against``; None also where ``against`` is nothing at all."""
        return self.value / self.against if self.against else None

    @property
    def ok(self) -> bool:
        """Whether the bound is reached. What has no bound, or no other side to be held against, can't fail."""
        if self.bound is None:
            return True
        if not self.bound.of_ratio:
            return self.bound.holds(self.value)
        return self.ratio is None or self.bound.holds(self.ratio)

    def as_json(self) -> FigureJson:
        """The figure as `codemojex bench --json` writes it."""
        return {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "against": self.against,
            "bound": None if self.bound is None else self.bound.limit,
            "ok": self.ok,
        }


def of_runs(
    name: str, unit: str, runs: Sequence[float], *, against: Sequence[float] = (), bound: Bound | None = None
) -> Figure:
    """Take the median of ``runs``, held against the median of ``against``.

    Raises:
        ValueError: the figure is held against another, but its bound is of the figure itself; whoever reads the JSON
            could not tell.
    """
    if against and bound is not None and not bound.of_ratio:
        raise ValueError(f"bound {name!r} by a ratio, or hold it against nothing")
    return Figure(
        name=name,
        value=statistics.median(runs),
        unit=unit,
        against=statistics.median(against) if against else None,
        bound=bound,
        least=min(runs),
        most=max(runs),
    )


def shown(number: float) -> str:
    """A number for people: three digits are enough, unless it is a large one."""
    if abs(number) >= 100 or number == int(number):
        return f"{number:,.0f}"
    return f"{number:.3g}"
