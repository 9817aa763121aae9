"""Which groups were served lately, in bounded memory."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

SLICE_S: Final = 5.0
SLICES: Final = 12
MOST_GROUPS: Final = 2_000
"""Of a slice. Up to twice as many are kept for a moment, so that the least served are looked for now and then only."""


@dataclass(slots=True)
class _Slice:
    number: int
    served: Counter[str] = field(default_factory=Counter)
    others: int = 0

    def bound(self) -> None:
        """Keep the groups that were served most, and only the number of what the others got."""
        before = self.served.total()
        self.served = Counter(dict(self.served.most_common(MOST_GROUPS)))
        self.others += before - self.served.total()


class Lately:
    """Counts each group's jobs of the last minute, in slices: the newest one is still being filled.

    Args:
        now_s: a clock that never goes back.
    """

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._slices: deque[_Slice] = deque(maxlen=SLICES)

    def note(self, groups: Iterable[str]) -> None:
        """Count one job for each mention of a group."""
        number = int(self._now_s() // SLICE_S)
        if not self._slices or self._slices[-1].number != number:
            self._slices.append(_Slice(number))
        newest = self._slices[-1]
        newest.served.update(groups)
        if len(newest.served) > 2 * MOST_GROUPS:
            newest.bound()

    def counted(self) -> tuple[Counter[str], int]:
        """How many jobs each group got, and how many those got that could not be kept apart."""
        first = int(self._now_s() // SLICE_S) - SLICES
        served, others = Counter[str](), 0
        for each in self._slices:
            if each.number > first:
                served.update(each.served)
                others += each.others
        return served, others
