"""What a run shows: how it goes, while it goes, and a table at its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from bot.flood.phases import Tell
from bot.flood.samples import Phase, Record

_COLUMNS: Final = (
    TextColumn("{task.description:<12}"),
    BarColumn(),
    TimeElapsedColumn(),
    TextColumn("{task.fields[told]}"),
)
_BYTES: Final = 1 << 20
_LATENCIES: Final = ("p50", "p95", "p99", "max")


class Display:
    """A line a phase, on standard error."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._progress = Progress(*_COLUMNS, console=self._console)
        self._tasks: dict[tuple[bool, Phase], TaskID] = {}

    def __enter__(self) -> Self:
        self._starting = self._progress.add_task("start", total=None, told="servers, bot and workers")
        if self._console.is_terminal:
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def teller(self, single_line: bool) -> Tell:  # noqa: FBT001 - the one thing that tells passes apart
        """Is told how a pass goes."""

        def tell(phase: Phase, done: float, record: Record) -> None:
            name = f"{phase}, one line" if single_line else str(phase)
            task = self._tasks.get((single_line, phase))
            if task is None:
                self._progress.update(self._starting, total=1.0, completed=1.0, told="")
                task = self._tasks[single_line, phase] = self._progress.add_task(name, total=1.0, told="")
                if not self._console.is_terminal:
                    self._console.print(f"{name} ...", highlight=False)
            last = record.looks[-1]
            told = f"{len(record.guesses):,} said, {last.waiting:,} waiting, {last.leased} in flight"
            self._progress.update(task, completed=done, told=told)

        return tell


def table(told: dict[str, Any]) -> Table:
    """The report's figures, for people."""
    through = "the whole product" if told["through"] == "product" else "the lanes alone"
    shown = Table(title=f"A flood through {through}", title_justify="left")
    shown.add_column("figure")
    shown.add_column("lanes", justify="right")
    passes = [told]
    if "fifo" in told:
        shown.add_column("one line", justify="right")
        passes.append(told["fifo"])
    for name, *values in _rows(passes):
        shown.add_row(name, *values)
    return shown


def _rows(passes: Sequence[dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    for phase in (Phase.IDLE, Phase.EVEN, Phase.FLOOD, Phase.AFTER):
        yield f"quiet rooms, {phase}: samples", *(_of(it, phase, "samples") for it in passes)
        for kind in ("scored", "answered"):
            name = f"  said to {kind}, ms: {', '.join(_LATENCIES)}"
            yield name, *(_spread(it, phase, f"{kind}_ms") for it in passes)
    for name, label in _FIGURES.items():
        yield label, *(_value(it.get(name)) for it in passes)
    yield "most memory, MiB", *(_memory(it) for it in passes)


_FIGURES: Final = {
    "quiet_p99_ratio": "quiet rooms' p99 to scored, flood over even load",
    "jain_index": "Jain's index of served over offered, quiet rooms",
    "flooded_share": "the flooded room's share of what was scored",
    "max_in_flight_flooded": "most in flight of the flooded room",
    "ceiling": "its ceiling",
    "quiet_done_at_service": "services of the flood until quiet backlogs were done",
    "sent": "guesses said",
    "flood_sent": "  by the flooded room in the flood",
    "scored": "  scored",
    "refused": "  refused",
    "refused_told": "  refused, and told until when",
    "lost": "  lost",
    "double": "  told twice",
    "unanswered": "  scored and never told",
    "untaken": "  not taken by the end",
    "max_depth": "most that waited",
    "max_starvation_ms": "longest wait for a turn, ms",
    "idle_while_work_waited": "looks at idle workers while work waited",
    "eta_error": "median error of an ETA",
    "visible_calls_a_minute_max": "most messages of a minute in one chat",
    "breaches_of_telegram": "breaches of what Telegram bears",
    "clock_stepped_ms": "largest step of the wall clock, ms",
}


def _of(told: dict[str, Any], phase: Phase, name: str) -> str:
    return _value(told["phases"].get(phase, {}).get(name))


def _spread(told: dict[str, Any], phase: Phase, name: str) -> str:
    spread = told["phases"].get(phase, {}).get(name)
    return "-" if spread is None else ", ".join(_value(spread[each]) for each in _LATENCIES)


def _memory(told: dict[str, Any]) -> str:
    sizes = {"redis": told["redis_bytes_max"], **told["process_bytes_max"]}
    return ", ".join(f"{name} {size / _BYTES:.0f}" for name, size in sizes.items() if size)


def _value(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.3f}" if abs(value) < 10 else f"{value:,.1f}"
