"""What was said, and what became of it: the raw material of every figure. Wall clock in ms, with fractions."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import Final

from engine.lanes import Stats

_STEP_MS: Final = 1.0
FLOODED: Final = 0
"""The number of the room that floods; the quiet ones count from 1."""


class Phase(StrEnum):
    """What a run is made of, in its order."""

    IDLE = "idle"
    FLOOD = "flood"
    AFTER = "after"
    EVEN = "even"
    TURNS = "turns"
    """Backlogs are laid while all is paused, and then served: of these looks only what was in flight tells anything."""


class Fate(StrEnum):
    """What became of a guess."""

    SCORED = "scored"
    REFUSED = "refused"
    """Its room was full, and its player was told."""
    LOST = "lost"
    """It was taken, and nothing became of it."""
    UNTAKEN = "untaken"
    """The run ended before it was taken."""


class Clock:
    """The wall clock in ms as it stood at the beginning, and how much time went by since: no step of it is seen.

    Servers write down the wall clock's times. Where that is set meanwhile, `notice` finds out, and `of_wall` takes it
    into account; only what was written between a step and its discovery is off.
    """

    def __init__(self) -> None:
        self._apart_ms = time.time() * 1_000 - time.monotonic() * 1_000
        self._steps: list[tuple[float, float]] = [(-math.inf, 0.0)]

    def now_ms(self) -> float:
        """Now."""
        return self._apart_ms + time.monotonic() * 1_000

    def notice(self) -> None:
        """Look whether the wall clock was set."""
        wall_ms = time.time() * 1_000
        ahead_ms = wall_ms - self.now_ms()
        if abs(ahead_ms - self._steps[-1][1]) > _STEP_MS:
            self._steps.append((wall_ms, ahead_ms))

    def of_wall(self, wall_ms: float) -> float:
        """What this clock told when the wall clock told ``wall_ms``."""
        return wall_ms - next(ahead_ms for at_ms, ahead_ms in reversed(self._steps) if at_ms <= wall_ms)

    @property
    def stepped_ms(self) -> float:
        """The largest step of the wall clock so far."""
        return max((abs(after - before) for (_, before), (_, after) in pairwise(self._steps)), default=0.0)


@dataclass(slots=True)
class Guess:
    """One guess.

    ``due_ms`` is when it should have been said, so that whoever says it late, because something is slow, hides nothing.
    """

    room: int
    phase: Phase
    due_ms: float
    fate: Fate = Fate.UNTAKEN
    scored_ms: float | None = None
    answered_ms: float | None = None
    refused_ms: float | None = None
    eta_ms: int | None = None
    behind: int = 0
    """How many waited as it was refused."""
    player: int = 0
    """Its number in its room."""


@dataclass(slots=True)
class Look:
    """One look at the lanes while they work."""

    at_ms: float
    phase: Phase
    waiting: int
    leased: int
    servable: int
    granted: int
    flooded_in_flight: int
    most_in_flight: int
    starvation_ms: int

    @classmethod
    def of(cls, stats: Stats, flooded: str, phase: Phase, at_ms: float, but: str = "") -> Look:
        """What ``stats`` tell of the group ``flooded`` and of all; ``but`` one, whose flights are those of many."""
        flights = {row.group: row.in_flight for row in stats.top}
        return cls(
            at_ms,
            phase,
            stats.waiting + stats.scheduled,
            stats.leased,
            stats.servable,
            stats.granted,
            flights.get(flooded, 0),
            max((count for group, count in flights.items() if group != but), default=0),
            stats.starvation_ms,
        )


@dataclass(slots=True)
class Memory:
    """Bytes in use: of the Redis server's data, and resident in each process."""

    at_ms: float
    phase: Phase
    redis: int
    processes: dict[str, int]


@dataclass(slots=True)
class Record:
    """Everything that one pass came to.

    ``ended`` says why it ended before its time; empty where it did not.
    """

    guesses: list[Guess] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    memory: list[Memory] = field(default_factory=list)
    began_ms: dict[Phase, float] = field(default_factory=dict)
    over_ms: dict[Phase, float] = field(default_factory=dict)
    double: int = 0
    unanswered: int = 0
    """Scored, and its chat never showed how close it came."""
    done_at_service: int | None = None
    busiest_calls: int = 0
    """Most messages and edits of a minute in one chat."""
    clock_stepped_ms: float = 0.0
    """The largest step of the wall clock."""
    wrongs: int = 0
    """What Telegram would not have borne."""
    scored_by: str = ""
    ended: str = ""

    def of(self, phase: Phase, *, quiet: bool) -> list[Guess]:
        """The guesses of one phase, of the quiet rooms or of the flooded one."""
        return [guess for guess in self.guesses if guess.phase is phase and (guess.room != FLOODED) == quiet]

    def scored_within(self, phase: Phase) -> int:
        """How many guesses, said whenever, were scored from the phase's beginning to its end."""
        began_ms, over_ms = self.began_ms.get(phase, math.inf), self.over_ms.get(phase, math.inf)
        return sum(guess.scored_ms is not None and began_ms <= guess.scored_ms <= over_ms for guess in self.guesses)


def percentile(values: Sequence[float], share: float) -> float | None:
    """The smallest of ``values`` that so large a share of them does not exceed; None of nothing."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def jain(shares: Iterable[float]) -> float | None:
    """Jain's index of ``shares``: 1 where all are alike, 1/n where one has everything; None of nothing."""
    given = list(shares)
    squares = sum(share * share for share in given)
    return None if not squares else sum(given) ** 2 / (len(given) * squares)
