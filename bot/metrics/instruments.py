"""Plain counters and histograms. The library's own lock each addition and show when each series was made.

All belong to the process's one event loop: nothing here is safe for threads, and nothing needs to be.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Final, Protocol

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.utils import floatToGoString

Labels = tuple[str, ...]


class Meter(Protocol):
    """Something that has series to show."""

    def families(self) -> Iterator[Metric]:
        """All it has, as of now; asked once for each scrape."""
        ...


class Counts:
    """Counters of one name.

    Args:
        name: without ``_total``.
        help_: what is counted, in a sentence.
        labels: their names.
        known: what can happen, known beforehand: each is there with 0, so that the first one is seen as a rise.
    """

    def __init__(self, name: str, help_: str, labels: Labels = (), known: Iterable[Labels] = ()) -> None:
        self._about: Final = (name, help_)
        self._labels = labels
        self._counts: dict[Labels, float] = dict.fromkeys(known if labels else [()], 0)

    def add(self, *values: str, by: float = 1) -> None:
        """Count ``by`` more, under these values of the labels."""
        self._counts[values] = self._counts.get(values, 0) + by

    def family(self) -> Metric:
        """Its series."""
        family = CounterMetricFamily(*self._about, labels=self._labels)
        for values, count in self._counts.items():
            family.add_metric(values, count)
        return family


class Spread:
    """Histograms of one name: how values are spread.

    Args:
        name: ends in the values' unit.
        help_: what is measured, in a sentence.
        bounds: of the buckets, upwards; a value counts in the first bucket whose bound it does not exceed.
        labels: their names.
    """

    def __init__(self, name: str, help_: str, bounds: tuple[float, ...], labels: Labels = ()) -> None:
        self._about: Final = (name, help_)
        self._bounds = bounds
        self._names = [*map(floatToGoString, bounds), "+Inf"]
        self._labels = labels
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}
        if not labels:
            self.know()

    def know(self, *values: str) -> None:
        """Be there, with nothing in it, under these values of the labels."""
        self._counts.setdefault(values, [0] * len(self._names))
        self._sums.setdefault(values, 0.0)

    def add(self, value: float, *values: str) -> None:
        """Take one value in; its labels are known."""
        self._counts[values][bisect_left(self._bounds, value)] += 1
        self._sums[values] += value

    def add_all(self, those: Iterable[float], *values: str) -> None:
        """The same with many, for less than a quarter of a microsecond each."""
        bounds, counts, total = self._bounds, self._counts[values], 0.0
        for value in those:
            counts[bisect_left(bounds, value)] += 1
            total += value
        self._sums[values] += total

    def family(self) -> Metric:
        """Its series."""
        family = HistogramMetricFamily(*self._about, labels=self._labels)
        for values, counts in self._counts.items():
            buckets = list(zip(self._names, map(float, accumulate(counts)), strict=True))
            family.add_metric(values, buckets, self._sums[values])
        return family
