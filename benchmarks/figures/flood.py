"""A flood through the whole product: what quiet rooms feel of it. ``codemojex flood`` shows more of the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from benchmarks.figure import Figure, at_most, of_runs, times_at_most
from benchmarks.peers import Peers
from benchmarks.sizes import Sizes
from bot.flood.plan import Plan
from bot.flood.report import report
from bot.flood.running import Ground, play
from bot.flood.servers import Kind

_TIMES_EVEN: Final = 1.25
_CEILING: Final = 8


def measure(sizes: Sizes, _: Peers) -> Iterator[Figure]:
    plan = Plan(flood_guesses=sizes.flood_guesses, seconds=sizes.flood_s, ceiling=_CEILING, fifo=True)
    ran = play(plan, Ground(Kind.POSTGRESQL), lambda _: _silent)
    told = report(plan, ran.fair, ran.fifo)
    if told["ended"]:
        raise RuntimeError(f"the flood ended early: {told['ended']}")
    yield of_runs(
        "quiet rooms' p99 from said to scored, one room floods; against the same load spread evenly",
        "ms",
        [told["quiet_p99_ms_flood"]],
        against=[told["quiet_p99_ms_even"]],
        bound=times_at_most(_TIMES_EVEN),
    )
    yield of_runs("  while nobody else plays", "ms", [told["quiet_p99_ms_idle"]])
    yield of_runs("  the flood again, all guesses on one line", "ms", [told["fifo"]["quiet_p99_ms_flood"]])
    yield of_runs("guesses of it that were lost, or told twice", "guesses", [_bad(told)], bound=at_most(0))
    yield of_runs(
        "most in flight of the flooded room", "guesses", [told["max_in_flight_flooded"]], bound=at_most(_CEILING)
    )


def _bad(told: dict[str, Any]) -> int:
    return sum(int(each[name]) for each in (told, told["fifo"]) for name in ("lost", "double"))


def _silent(*_: object) -> None:
    """Nobody looks."""
