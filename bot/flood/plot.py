"""The picture of a run: how long quiet rooms waited, with the flood shaded, and whose guesses were scored."""

from __future__ import annotations

import importlib.util
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from bot.errors import ProgramError
from bot.flood.samples import FLOODED, Guess, Phase, Record, percentile

_INCHES: Final = (11, 7)
_SHADED: Final = {Phase.FLOOD: "#f4b6b6", Phase.EVEN: "#dfe7f5"}
_A_SECOND_MS: Final = 1_000


class PlotMissing(ProgramError):  # noqa: N818 - says what is missing
    """There is nothing to draw with."""


def require_plot() -> None:
    """See that a plot can be drawn.

    Raises:
        PlotMissing: matplotlib is not installed.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise PlotMissing("--plot needs matplotlib; install codemojex[flood], or leave --plot out")


def draw(path: Path, fair: Record, fifo: Record | None) -> None:
    """Draw into ``path``, a PNG.

    Raises:
        PlotMissing: matplotlib is not installed.
        OSError: the file can't be written.
    """
    require_plot()
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra, and slow to import

    figure = Figure(figsize=_INCHES, layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    _latencies(above, fair, fifo)
    _shares(below, fair)
    figure.savefig(path, dpi=110, format="png")


def _latencies(axes: Any, fair: Record, fifo: Record | None) -> None:
    began_ms = min(fair.began_ms.values(), default=0.0)
    for phase, colour in _SHADED.items():
        if phase in fair.over_ms:
            left, right = fair.began_ms[phase] - began_ms, fair.over_ms[phase] - began_ms
            axes.axvspan(left / _A_SECOND_MS, right / _A_SECOND_MS, color=colour, label=f"{phase} load")
    for share, style in ((0.5, "-"), (0.99, "--")):
        axes.plot(
            *_by_second(fair.guesses, began_ms, share), style, color="#1f5fa8", label=f"lanes, p{share * 100:.0f}"
        )
    if fifo is not None and Phase.FLOOD in fifo.began_ms and Phase.FLOOD in fair.began_ms:
        # Laid over the flood of the first pass: that is what it is held against.
        moved_ms = fifo.began_ms[Phase.FLOOD] - (fair.began_ms[Phase.FLOOD] - began_ms)
        axes.plot(*_by_second(fifo.guesses, moved_ms, 0.99), "--", color="#b03030", label="one line, p99")
    axes.set_yscale("log")
    axes.set_ylabel("quiet rooms: said to scored, ms")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=5, frameon=False)
    axes.grid(visible=True, alpha=0.3)


def _shares(axes: Any, fair: Record) -> None:
    began_ms = min(fair.began_ms.values(), default=0.0)
    flooded: dict[int, int] = defaultdict(int)
    total: dict[int, int] = defaultdict(int)
    for guess in fair.guesses:
        if guess.scored_ms is not None:
            second = int((guess.scored_ms - began_ms) // _A_SECOND_MS)
            total[second] += 1
            flooded[second] += guess.room == FLOODED
    seconds = sorted(total)
    axes.fill_between(seconds, [flooded[at] / total[at] for at in seconds], color="#c86464", label="the flooded room")
    axes.set_ylim(0, 1)
    axes.set_ylabel("share of what was scored")
    axes.set_xlabel("seconds")
    axes.legend(loc="upper left")
    axes.grid(visible=True, alpha=0.3)


def _by_second(guesses: Sequence[Guess], began_ms: float, share: float) -> tuple[list[float], list[float]]:
    """The percentile of each second's quiet guesses, by when they were said."""
    seconds: dict[int, list[float]] = defaultdict(list)
    for guess in guesses:
        if guess.room != FLOODED and guess.scored_ms is not None:
            seconds[int((guess.due_ms - began_ms) // _A_SECOND_MS)].append(guess.scored_ms - guess.due_ms)
    found = [(float(second), percentile(values, share)) for second, values in sorted(seconds.items())]
    return [at for at, _ in found], [max(value or 0.0, 0.1) for _, value in found]
