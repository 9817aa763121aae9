"""The figures of a run, from its raw material."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from bot.flood.plan import Plan
from bot.flood.samples import FLOODED, Fate, Guess, Look, Memory, Phase, Record, jain, percentile

_SHARES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}
_FLAT_AFTER: Final = 0.5
_KEPT_UP: Final = 0.9
Json = dict[str, Any]


def report(plan: Plan, fair: Record, fifo: Record | None) -> Json:
    """All figures of a run: those that are always asked for by name, then each phase, then what lies behind them."""
    told = figures(fair)
    both = {
        "plan": {name: getattr(plan, name) for name in plan.__slots__},
        "through": "lanes" if plan.engine else "product",
        "ceiling": plan.ceiling,
        "cap": plan.cap,
        **told,
        "ended": fair.ended or (f"{fifo.ended}, on the one line" if fifo is not None and fifo.ended else ""),
    }
    return both if fifo is None else both | {"fifo": figures(fifo)}


def figures(record: Record) -> Json:
    """The figures of one pass; None stands for what was not measured."""
    fates = Counter(guess.fate for guess in record.guesses)
    p99 = {phase: percentile(_latencies(record.of(phase, quiet=True)), 0.99) for phase in Phase}
    flood, even = p99[Phase.FLOOD], p99[Phase.EVEN]
    played = [look for look in record.looks if look.phase is not Phase.TURNS]
    return {
        "quiet_p99_ms_idle": p99[Phase.IDLE],
        "quiet_p99_ms_even": even,
        "quiet_p99_ms_flood": flood,
        "quiet_p99_ratio": flood / even if flood is not None and even and _kept_up(record) else None,
        "jain_index": _jain(record),
        "max_in_flight": max((look.most_in_flight for look in played), default=None),
        "max_in_flight_flooded": max((look.flooded_in_flight for look in record.looks), default=None),
        "flood_sent": sum(guess.phase is Phase.FLOOD and guess.room == FLOODED for guess in record.guesses),
        "sent": len(record.guesses),
        "scored": fates[Fate.SCORED],
        "refused": fates[Fate.REFUSED],
        "refused_told": sum(guess.eta_ms is not None for guess in record.guesses if guess.fate is Fate.REFUSED),
        "lost": fates[Fate.LOST],
        "double": record.double,
        "unanswered": record.unanswered,
        "untaken": fates[Fate.UNTAKEN],
        "quiet_done_at_service": record.done_at_service,
        "flooded_share": _share(record),
        "idle_while_work_waited": _idle(played),
        "looks": len(played),
        "max_depth": max((look.waiting for look in played), default=None),
        "max_starvation_ms": max((look.starvation_ms for look in played), default=None),
        "eta_error": _eta_error(record),
        "memory_growth": _growth(record),
        "redis_bytes_max": max((each.redis for each in record.memory), default=None),
        "process_bytes_max": _most(record.memory),
        "visible_calls_a_minute_max": record.busiest_calls,
        "breaches_of_telegram": record.wrongs,
        "clock_stepped_ms": record.clock_stepped_ms,
        "scored_by": record.scored_by,
        "phases": {str(phase): _phase(record, phase) for phase in Phase if phase in record.began_ms},
        "ended": record.ended,
    }


def _kept_up(record: Record) -> bool:
    """Whether the even load was one: what can't be worked off only grows, and so does how long it waits."""
    said = sum(guess.phase is Phase.EVEN for guess in record.guesses)
    return Phase.EVEN not in record.over_ms or record.scored_within(Phase.EVEN) >= _KEPT_UP * said


def _latencies(guesses: Iterable[Guess]) -> list[float]:
    return [guess.scored_ms - guess.due_ms for guess in guesses if guess.scored_ms is not None]


def _spread(values: Sequence[float]) -> dict[str, float | None]:
    return {name: percentile(values, share) for name, share in _SHARES.items()}


def _phase(record: Record, phase: Phase) -> Json:
    quiet, flooded = record.of(phase, quiet=True), record.of(phase, quiet=False)
    lasted_ms = record.over_ms.get(phase, record.began_ms[phase]) - record.began_ms[phase]
    return {
        "seconds": lasted_ms / 1_000,
        "samples": len(_latencies(quiet)),
        "scored_ms": _spread(_latencies(quiet)),
        "answered_ms": _spread([guess.answered_ms - guess.due_ms for guess in quiet if guess.answered_ms is not None]),
        "flooded_scored_ms": _spread(_latencies(flooded)),
        "sent": len(quiet) + len(flooded),
        "sent_a_second": (len(quiet) + len(flooded)) / (lasted_ms / 1_000) if lasted_ms else None,
        "scored_a_second": record.scored_within(phase) / (lasted_ms / 1_000) if lasted_ms else None,
    }


def _jain(record: Record) -> float | None:
    """Of quiet rooms, while the flood ran: what was scored only when it was over was not served in time."""
    over_ms = record.over_ms.get(Phase.FLOOD, math.inf)
    offered: Counter[int] = Counter()
    served: Counter[int] = Counter()
    for guess in record.of(Phase.FLOOD, quiet=True):
        offered[guess.room] += 1
        served[guess.room] += guess.scored_ms is not None and guess.scored_ms <= over_ms
    return jain(served[room] / offered[room] for room in offered)


def _share(record: Record) -> float | None:
    """Of what was scored while the flood was said: how much was the flooded room's."""
    began_ms, over_ms = record.began_ms.get(Phase.FLOOD), record.over_ms.get(Phase.FLOOD)
    if began_ms is None or over_ms is None:
        return None
    scored = [
        guess.room == FLOODED
        for guess in record.guesses
        if guess.scored_ms is not None and began_ms <= guess.scored_ms <= over_ms
    ]
    return sum(scored) / len(scored) if scored else None


def _idle(looks: Sequence[Look]) -> int:
    """Looks that found work which could be served, and none given since the look before."""
    return sum(
        now.servable > 0 and before.servable > 0 and now.granted == before.granted for before, now in pairwise(looks)
    )


def _eta_error(record: Record) -> float | None:
    """The median of |told / true - 1| over refusals: what was ahead of one was gone when so many more were scored."""
    scored = sorted(
        guess.scored_ms for guess in record.guesses if guess.room == FLOODED and guess.scored_ms is not None
    )
    errors: list[float] = []
    for guess in record.guesses:
        if guess.eta_ms is None or guess.refused_ms is None:
            continue
        last = bisect_right(scored, guess.refused_ms) + guess.behind - 1
        if last < len(scored) and scored[last] > guess.refused_ms:
            errors.append(abs(guess.eta_ms / (scored[last] - guess.refused_ms) - 1))
    return percentile(errors, 0.5)


def _growth(record: Record) -> Mapping[str, float]:
    """Of Redis and of each process: what it had most in the flood's last half over what it had most in the first."""
    flood = [each for each in record.memory if each.phase is Phase.FLOOD]
    half = int(len(flood) * _FLAT_AFTER)
    first, last = _named(flood[:half]), _named(flood[half:])
    return {name: last[name] / first[name] for name in first if name in last and first[name]}


def _most(memory: Iterable[Memory]) -> dict[str, int]:
    most = _named(memory)
    most.pop("redis", None)
    return most


def _named(memory: Iterable[Memory]) -> dict[str, int]:
    most: dict[str, int] = defaultdict(int)
    for each in memory:
        for name, size in {"redis": each.redis, **each.processes}.items():
            most[name] = max(most[name], size)
    return dict(most)
