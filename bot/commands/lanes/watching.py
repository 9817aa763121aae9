"""What there is to see of a queue, look by look: its groups, and what share of the work each really gets.

The lanes count no group's work for its own sake. So shares are taken from the leases that are seen: every few looks at
a bounded number of them; each new one counts for its group, for some seconds. Where jobs of all groups take about as
long, that is the share of the work.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Final

from bot.commands.lanes.options import QueueName
from bot.commands.lanes.session import lanes_of
from bot.wiring import House
from engine.lanes import GroupStats, Record, State, Stats

_SEEN_AT_ONCE: Final = 200
_WINDOW_S: Final = 10.0
_LOOKS_KEPT: Final = 24


@dataclass(frozen=True, slots=True)
class Row:
    """One group. ``share`` and ``due`` are parts of 1: what it got lately, and what its weight is worth."""

    group: str
    title: str
    waiting: int
    in_flight: int
    ceiling: int | None
    weight: int | None
    share: float | None
    due: float | None
    oldest_ms: int | None
    state: str


@dataclass(frozen=True, slots=True)
class Look:
    """A queue at one moment. ``per_second`` is how many leases were given since the look before."""

    queue: QueueName
    stats: Stats
    rows: tuple[Row, ...]
    per_second: float | None
    paces: tuple[float, ...]


@dataclass(slots=True)
class _Shares:
    """Leases as they are first seen, for the length of a window."""

    last: set[tuple[str, int]] = field(default_factory=set)
    seen: deque[tuple[float, str]] = field(default_factory=deque)
    counts: Counter[str] = field(default_factory=Counter)

    def note(self, leased: list[Record], now_s: float) -> None:
        """Count the leases that the last look did not see; forget those of long ago."""
        leases = {(record.id, record.attempts): record.group for record in leased}
        for lease in leases.keys() - self.last:
            self.seen.append((now_s, leases[lease]))
            self.counts[leases[lease]] += 1
        self.last = set(leases)
        while self.seen and self.seen[0][0] < now_s - _WINDOW_S:
            _, group = self.seen.popleft()
            self.counts[group] -= 1
            if not self.counts[group]:
                del self.counts[group]

    def of(self, group: str) -> float | None:
        """The share of a group, or None where nothing was seen at all."""
        total = self.counts.total()
        return self.counts[group] / total if total else None


class Watch:
    """Looks at one queue again and again.

    Args:
        house: beside the running program.
        queue: which one.
        top: most groups that a look shows.
    """

    def __init__(self, house: House, queue: QueueName, top: int) -> None:
        self._lanes = lanes_of(house, queue)
        self._operators = house.game.operators
        self._queue = queue
        self._top = top
        self._shares = _Shares()
        self._in_flight: Counter[str] = Counter()
        self._titles: dict[str, str] = {}
        self._before: tuple[int, int] | None = None
        self._paces: deque[float] = deque(maxlen=_LOOKS_KEPT)

    async def glance(self) -> None:
        """See who has leases now: cheap, and the more often the better the shares."""
        leased = await self._lanes.browse(None, _SEEN_AT_ONCE, State.leased)
        self._in_flight = Counter(record.group for record in leased)
        self._shares.note(leased, time.monotonic())

    async def look(self) -> Look:
        """See all there is to see."""
        await self.glance()
        stats = await self._lanes.stats(self._top)
        pace = self._pace(stats)
        shown = {row.group for row in stats.top}
        # Served as fast as it comes: it has no backlog, but work in flight, or had it lately.
        brisk = [group for group in self._shares.counts if group not in shown][: self._top - len(shown)]
        await self._name([*shown, *brisk])
        weights = {row.group: row.weight for row in stats.top if _competes(row)}
        whole = sum(weights.values()) + stats.other.groups + len(brisk)
        rows = [self._row(row, weights.get(row.group, 0) / whole if whole else None, stats) for row in stats.top]
        rows += [self._brisk(group) for group in brisk]
        return Look(self._queue, stats, tuple(rows), pace, tuple(self._paces))

    def _pace(self, stats: Stats) -> float | None:
        before, self._before = self._before, (stats.at_ms, stats.granted)
        if before is None or stats.at_ms <= before[0]:
            return None
        pace = max(0.0, (stats.granted - before[1]) * 1_000 / (stats.at_ms - before[0]))
        self._paces.append(pace)
        return pace

    async def _name(self, groups: list[str]) -> None:
        unknown = [group for group in groups if group not in self._titles]
        if unknown:
            found = await self._operators.titles(unknown)
            self._titles.update((group, found.get(group, "")) for group in unknown)

    def _row(self, row: GroupStats, due: float | None, stats: Stats) -> Row:
        return Row(
            group=row.group,
            title=self._titles[row.group],
            waiting=row.depth,
            in_flight=row.in_flight,
            ceiling=row.ceiling,
            weight=row.weight,
            share=self._shares.of(row.group),
            due=due or None,
            oldest_ms=row.oldest_ms,
            state="paused" if stats.all_paused else state_of(row),
        )

    def _brisk(self, group: str) -> Row:
        in_flight = self._in_flight[group]
        state = "working" if in_flight else "idle"
        return Row(group, self._titles[group], 0, in_flight, None, None, self._shares.of(group), None, None, state)


def state_of(row: GroupStats) -> str:
    """Why a group with a backlog is served, or is not."""
    if row.paused:
        return "paused"
    if row.held_ms > 0:
        return f"held {span(row.held_ms)}"
    if row.taken:
        return "spoken for"
    if row.ceiling is not None and row.in_flight >= row.ceiling:
        return "full"
    return "in turn" if row.servable else "scheduled"


def span(ms: float) -> str:
    """A length of time in two figures or so."""
    if ms < 1_000:
        return f"{ms:.0f} ms"
    seconds = ms / 1_000
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s"


def _competes(row: GroupStats) -> bool:
    return not row.paused and not row.held_ms
