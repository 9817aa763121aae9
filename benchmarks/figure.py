"""One measured figure beside what it is held against."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of one run.

    Args:
        name: what was measured, and how.
        value: the median.
        unit: of ``value``.
        against: the other side of the ratio, measured in the same run; None where there is none.
        bound: what ``value`` (or the ratio, where ``against`` is set) should reach.
        least: the smallest of the runs.
        most: the largest of the runs.
    """

    name: str
    value: float
    unit: str
    against: float | None
    bound: float
    least: float
    most: float

    @property
    def ratio(self) -> float | None:
        """``value`` over ``against``."""
        return None if self.against is None else self.value / self.against

    @property
    def ok(self) -> bool:
        """Whether the bound is reached."""
        return (self.value if self.ratio is None else self.ratio) >= self.bound


def of_runs(name: str, unit: str, runs: Sequence[float], *, against: Sequence[float] = (), bound: float) -> Figure:
    """Take the median of ``runs``, held against the median of ``against``."""
    return Figure(
        name=name,
        value=statistics.median(runs),
        unit=unit,
        against=statistics.median(against) if against else None,
        bound=bound,
        least=min(runs),
        most=max(runs),
    )
