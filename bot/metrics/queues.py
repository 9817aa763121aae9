"""The queues' own series: totals of each, its deepest groups, and all others together.

Realised share and what is due to a group stand beside each other: who was served lately is counted by each process,
for the groups that are shown anyway and those that it served most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from bot.metrics.lately import Lately
from bot.metrics.reading import TOP
from engine.lanes import GroupStats, Stats

OTHER: Final = "other"
"""Stands for all groups that have no series of their own; no branded id is that short."""
_QUEUE: Final = ("queue",)
_GROUP: Final = ("queue", "group")

_GAUGES: Final[Mapping[str, tuple[str, Callable[[Stats], float]]]] = {
    "waiting_jobs": ("Jobs that wait for their turn.", lambda stats: stats.waiting),
    "scheduled_jobs": ("Jobs that are not due yet.", lambda stats: stats.scheduled),
    "leased_jobs": ("Jobs in flight.", lambda stats: stats.leased),
    "dead_jobs": ("Jobs that were given up.", lambda stats: stats.dead),
    "groups": ("Groups with a backlog.", lambda stats: stats.groups),
    "servable_groups": ("Groups that can be served right now.", lambda stats: stats.servable),
    "paused_groups": ("Groups that are paused, with a backlog or without.", lambda stats: stats.paused),
    "held_groups": ("Groups that are held.", lambda stats: stats.held),
    "paused": ("1 where all claims of the queue are paused.", lambda stats: stats.all_paused),
    "other_groups": ("Groups with a backlog that have no series of their own.", lambda stats: stats.other.groups),
    "starvation_seconds": (
        "How long the group that has waited longest for its turn has waited, in seconds, whichever group that is.",
        lambda stats: stats.starvation_ms / 1_000,
    ),
}
_COUNTERS: Final[Mapping[str, tuple[str, Callable[[Stats], float]]]] = {
    "granted": ("Leases given since the queue began.", lambda stats: stats.granted),
    "lapsed": ("Leases that ended because nobody settled them, once reaped.", lambda stats: stats.lapsed),
}
_GROUPS: Final[Mapping[str, tuple[str, Callable[[GroupStats], float | None]]]] = {
    "in_flight_jobs": ("Jobs of the group in flight.", lambda row: row.in_flight),
    "ceiling_jobs": (
        "Most jobs of the group in flight at once; absent where there is no limit.",
        lambda row: row.ceiling,
    ),
    "weight": ("Jobs that the group is worth at each visit of the rota.", lambda row: row.weight),
    "oldest_seconds": (
        "How long the group's oldest waiting job has been in the queue, in seconds.",
        lambda row: None if row.oldest_ms is None else row.oldest_ms / 1_000,
    ),
    "unserved_seconds": (
        "How long the group has been in turn without being served, in seconds; absent while it is not in turn.",
        lambda row: None if row.unserved_ms is None else row.unserved_ms / 1_000,
    ),
}


class QueueMeter:
    """The series of the queues, of the readings that it was shown last."""

    def __init__(self, lately: Mapping[str, Lately]) -> None:
        self._lately = lately
        self._stats: Mapping[str, Stats | None] = {}

    def show(self, stats: Mapping[str, Stats | None]) -> None:
        """Have these shown; None for a queue that could not be read."""
        self._stats = stats

    def families(self) -> Iterator[Metric]:
        """See `Meter`."""
        up = GaugeMetricFamily("codemojex_queue_up", "1 where the queue could be read just now.", labels=_QUEUE)
        for queue, stats in self._stats.items():
            up.add_metric([queue], stats is not None)
        yield up
        known = [(queue, stats) for queue, stats in self._stats.items() if stats is not None]
        yield from _totals(known)
        yield from _groups(known)
        yield _due(known)
        yield self._served(dict(known))

    def _served(self, known: Mapping[str, Stats]) -> Metric:
        family = GaugeMetricFamily(
            "codemojex_group_served_recently_jobs",
            "Jobs of the group that this process claimed in about the last minute.",
            labels=_GROUP,
        )
        for queue, lately in self._lately.items():
            served, others = lately.counted()
            stats = known.get(queue)
            shown = dict.fromkeys([row.group for row in stats.top] if stats is not None else [])
            shown.update(dict.fromkeys(group for group, _ in served.most_common(TOP)))
            for group in shown:
                family.add_metric([queue, group], served.pop(group, 0))
            family.add_metric([queue, OTHER], served.total() + others)
        return family


def _totals(known: list[tuple[str, Stats]]) -> Iterator[Metric]:
    for name, (help_, value) in _GAUGES.items():
        gauge = GaugeMetricFamily(f"codemojex_queue_{name}", help_, labels=_QUEUE)
        for queue, stats in known:
            gauge.add_metric([queue], value(stats))
        yield gauge
    for name, (help_, value) in _COUNTERS.items():
        counter = CounterMetricFamily(f"codemojex_queue_{name}", help_, labels=_QUEUE)
        for queue, stats in known:
            counter.add_metric([queue], value(stats))
        yield counter


def _groups(known: list[tuple[str, Stats]]) -> Iterator[Metric]:
    depth = GaugeMetricFamily(
        "codemojex_group_depth_jobs",
        f"Jobs of the group that wait or are scheduled; {OTHER} is all groups without series of their own.",
        labels=_GROUP,
    )
    for queue, stats in known:
        for row in stats.top:
            depth.add_metric([queue, row.group], row.depth)
        depth.add_metric([queue, OTHER], stats.other.depth)
    yield depth
    for name, (help_, value) in _GROUPS.items():
        gauge = GaugeMetricFamily(f"codemojex_group_{name}", help_, labels=_GROUP)
        for queue, stats in known:
            for row in stats.top:
                told = value(row)
                if told is not None:
                    gauge.add_metric([queue, row.group], told)
        yield gauge


def _due(known: list[tuple[str, Stats]]) -> Metric:
    """What weights would give: of the groups without series each counts as one that weighs 1."""
    family = GaugeMetricFamily(
        "codemojex_group_due_ratio",
        "The part of the work, 0 to 1, that the group's weight is worth beside the others that have a backlog.",
        labels=_GROUP,
    )
    for queue, stats in known:
        weights = Counter({row.group: row.weight for row in stats.top if _competes(row)})
        whole = weights.total() + stats.other.groups
        for row in stats.top:
            family.add_metric([queue, row.group], weights[row.group] / whole if whole else 0)
        family.add_metric([queue, OTHER], stats.other.groups / whole if whole else 0)
    return family


def _competes(row: GroupStats) -> bool:
    return not row.paused and not row.held_ms
