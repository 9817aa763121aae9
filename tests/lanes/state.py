"""All that a queue holds in Redis at one instant, read by the layout that the design lays down."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

_LANE_KEY: Final = re.compile(r"g:(\w{14})(?::(\w{14}))?:(ring|pending)")


@dataclass(frozen=True, slots=True)
class Entry:
    """A lease, or a scheduled or dead job; it carries group, lane and seq by itself."""

    member: str
    score: int
    """Deadline, due time or time of death, in server ms."""

    @property
    def job(self) -> str:
        return self.member[44:58]

    @property
    def group(self) -> str:
        return self.member[:14]

    @property
    def lane(self) -> str:
        return self.member[30:44]

    @property
    def seq(self) -> int:
        return int(self.member[14:30])

    @property
    def token(self) -> int:
        """Only of a lease."""
        return int(self.member[58:74])

    @property
    def core(self) -> str:
        return self.member[:58]


@dataclass(slots=True)
class State:
    """One queue; what is empty in Redis is empty here."""

    now_us: int = 0
    ring: list[str] = field(default_factory=list)
    inner: dict[str, list[str]] = field(default_factory=dict)
    waiting: dict[tuple[str, str], list[tuple[str, int]]] = field(default_factory=dict)
    out: list[tuple[str, int]] = field(default_factory=list)
    leases: list[Entry] = field(default_factory=list)
    schedule: list[Entry] = field(default_factory=list)
    dead: list[Entry] = field(default_factory=list)
    glimit: dict[str, int] = field(default_factory=dict)
    gactive: dict[str, int] = field(default_factory=dict)
    gweight: dict[str, int] = field(default_factory=dict)
    gstamp: dict[str, int] = field(default_factory=dict)
    gdepth: dict[str, int] = field(default_factory=dict)
    gcap: dict[str, str] = field(default_factory=dict)
    gflow: dict[str, str] = field(default_factory=dict)
    """By group, and what its pace is reckoned from by ``p`` and the group."""
    ldelayed: dict[tuple[str, str], int] = field(default_factory=dict)
    """Scheduled jobs by group and lane."""
    served: dict[str, int] = field(default_factory=dict)
    held: dict[str, int] = field(default_factory=dict)
    paused: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)
    counters: dict[str, str] = field(default_factory=dict)
    records: dict[str, bytes] = field(default_factory=dict)
    dedup: dict[str, int] = field(default_factory=dict)
    """How long each key is still remembered, in ms."""
    wake: int = 0

    def depth(self, group: str) -> int:
        """What waits and what is scheduled, counted by hand."""
        waiting = sum(len(jobs) for (owner, _), jobs in self.waiting.items() if owner == group)
        return waiting + sum(entry.group == group for entry in self.schedule)

    def active(self, group: str) -> int:
        """Leases, counted by hand."""
        return sum(entry.group == group for entry in self.leases)

    @property
    def busy(self) -> set[str]:
        """Groups that have something waiting, scheduled, leased or dead."""
        return {group for group, _ in self.waiting} | {
            entry.group for entry in (*self.leases, *self.schedule, *self.dead)
        }

    @property
    def groups(self) -> set[str]:
        """Groups that anything but a lever tells of."""
        told: set[str] = set()
        for names in (self.ring, self.inner, self.gactive, self.gstamp, self.gdepth, self.served, self.taken):
            told.update(names)
        told.update(member[:14] for member, _ in self.out)
        told.update(field[-14:] for field in self.gflow)
        told.update(group for group, _ in self.ldelayed)
        if "visit" in self.counters:
            told.add(self.counters["visit"])
        return told | self.busy

    def is_real(self, group: str, lane: str, job: str, seq: int) -> bool:
        """Whether the job's record agrees with its place; else the place holds a ghost."""
        record = self.records.get(job)
        return record is not None and record[:44] == f"{group}{seq:016d}{lane}".encode()


def parse(queue: str, now_us: int, rows: Iterable[tuple[str, str, int, Any]]) -> State:
    """Read the rows of ``dump.lua`` that belong to ``queue``; a key that the layout does not know fails."""
    state = State(now_us)
    for key, kind, ttl_ms, value in rows:
        name = key.removeprefix(f"emq:{{{queue}}}:")
        if (match := _LANE_KEY.fullmatch(name)) is not None:
            group, lane, what = match.groups()
            if what == "ring":
                assert kind == "list", key
                state.inner[group] = _texts(value)
            else:
                state.waiting[group, lane or group] = _scored(value)
        elif name.startswith("j:"):
            state.records[name[2:]] = value
        elif name.startswith("d:"):
            assert ttl_ms >= 0, f"the dedup key {key} lives for ever"
            state.dedup[name[2:]] = ttl_ms
        else:
            _parse_whole(state, name, kind, value)
    return state


def _parse_whole(state: State, name: str, kind: str, value: Any) -> None:
    match name, kind:
        case "ring", "list":
            state.ring = _texts(value)
        case "wake", "list":
            state.wake = len(value)
        case (("active" | "schedule" | "dead"), "zset"):
            entries = [Entry(member, score) for member, score in _scored(value)]
            setattr(state, "leases" if name == "active" else name, entries)
        case "out", "zset":
            state.out = _scored(value)
        case "held", "zset":
            state.held = dict(_scored(value))
        case (("paused" | "taken"), "set"):
            setattr(state, name, set(_texts(value)))
        case _, "hash":
            _parse_hash(state, name, _pairs(value))
        case _:
            raise AssertionError(f"nobody knows the key {name} ({kind})")


def _parse_hash(state: State, name: str, pairs: list[tuple[str, str]]) -> None:
    match name:
        case "glimit" | "gactive" | "gweight" | "gstamp" | "gdepth" | "served":
            setattr(state, name, {group: int(number) for group, number in pairs})
        case "gcap" | "gflow":
            setattr(state, name, dict(pairs))
        case "ldelayed":
            state.ldelayed = {(place[:14], place[14:]): int(number) for place, number in pairs}
        case "state":
            state.counters = dict(pairs)
        case _:
            raise AssertionError(f"nobody knows the hash {name}")


def _texts(values: list[bytes]) -> list[str]:
    return [value.decode() for value in values]


def _pairs(values: list[bytes]) -> list[tuple[str, str]]:
    texts = _texts(values)
    return list(zip(texts[::2], texts[1::2], strict=True))


def _scored(values: list[bytes]) -> list[tuple[str, int]]:
    return [(member, int(score)) for member, score in _pairs(values)]


def duplicates(names: Iterable[str]) -> set[str]:
    """Those named more than once."""
    seen: defaultdict[str, int] = defaultdict(int)
    for name in names:
        seen[name] += 1
    return {name for name, count in seen.items() if count > 1}
