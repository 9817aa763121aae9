"""A look at a queue as a table that people like to watch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bot.commands.lanes.watching import Look, Row, span
from bot.names import clean

_BAR: Final = 5
_ID: Final = 14
"""An id's length; it is what operators type, so a narrow terminal cuts all else first."""
_TRACK: Final = "on grey19"
_BLOCKS: Final = "▏▎▍▌▋▊▉█"
_SPARKS: Final = "▁▂▃▄▅▆▇█"
_STATES: Final = {
    "in turn": "green",
    "working": "green",
    "full": "yellow",
    "spoken for": "yellow",
    "paused": "magenta",
    "held": "cyan",
    "idle": "bright_black",
    "scheduled": "bright_black",
}


def picture(look: Look, *, note: str = "") -> RenderableType:
    """All of a look; ``note`` stands below it."""
    parts: list[RenderableType] = [_headline(look), _table(look)]
    rest = look.stats.other
    if rest.groups:
        parts.append(Text(f"and {rest.groups:,} more groups, in which {rest.depth:,} wait", style="bright_black"))
    if note:
        parts.append(Text(note, style="bright_black"))
    return Group(*parts)


def _headline(look: Look) -> Text:
    stats = look.stats
    line = Text(f"{look.queue}", style="bold")
    if stats.all_paused:
        line.append("  PAUSED", style="bold magenta")
    for number, noun in (
        (stats.waiting, "waiting"),
        (stats.leased, "in flight"),
        (stats.scheduled, "scheduled"),
        (stats.dead, "dead"),
    ):
        line.append(f"  {number:,} ", style="bold red" if noun == "dead" and number else "bold")
        line.append(noun, style="not bold")
    if look.per_second is not None:
        line.append(f"  {look.per_second:,.0f}/s ", style="bold")
        line.append(sparks(look.paces), style="green")
    line.append("\n")
    line.append(
        f"{stats.servable:,} of {stats.groups:,} groups in turn, {stats.paused:,} paused, {stats.held:,} held; "
        f"longest since a turn: {span(stats.starvation_ms)}",
        style="not bold",
    )
    return line


def _table(look: Look) -> Table:
    table = Table(box=None, pad_edge=False, expand=True, header_style="bright_black")
    table.add_column("group", ratio=1, min_width=_ID, no_wrap=True, overflow="crop")
    table.add_column("waiting", justify="right", no_wrap=True)
    table.add_column("in flight", no_wrap=True)
    table.add_column("weight", justify="right", no_wrap=True)
    table.add_column("share (due)", no_wrap=True)
    table.add_column("oldest", justify="right", no_wrap=True)
    table.add_column("state", no_wrap=True)
    for row in look.rows:
        table.add_row(
            _name(row),
            f"{row.waiting:,}",
            _in_flight(row),
            "-" if row.weight is None else f"{row.weight:,}",
            _share(row),
            "-" if row.oldest_ms is None else span(row.oldest_ms),
            Text(row.state, style=_STATES.get(row.state.partition(" ")[0], _STATES.get(row.state, ""))),
        )
    if not look.rows:
        table.add_row(Text("nothing waits", style="bright_black"))
    return table


def _name(row: Row) -> Text:
    title = clean(row.title)
    return Text.assemble((row.group, "bright_black"), " ", title) if title else Text(row.group)


def _in_flight(row: Row) -> Text:
    if row.ceiling is None:
        return Text(f"{row.in_flight:,}")
    full = row.in_flight >= row.ceiling
    return Text.assemble(
        (bar(row.in_flight / row.ceiling), f"{'yellow' if full else 'green'} {_TRACK}"),
        f" {row.in_flight:,}/{row.ceiling:,}",
    )


def _share(row: Row) -> Text:
    if row.share is None:
        return Text("-" if row.due is None else f"{'':{_BAR}}   - ({row.due:.0%})")
    due = "" if row.due is None else f" ({row.due:.0%})"
    return Text.assemble((bar(row.share), f"blue {_TRACK}"), f" {row.share:4.0%}{due}")


def bar(part: float) -> str:
    """A bar as long as ``part`` of 1, in eighths of a cell."""
    eighths = round(max(0.0, min(1.0, part)) * _BAR * 8)
    whole, left = divmod(eighths, 8)
    return ("█" * whole + (_BLOCKS[left - 1] if left else "")).ljust(_BAR)


def sparks(numbers: Sequence[float]) -> str:
    """A little curve of the last numbers."""
    most = max(numbers, default=0.0)
    if most <= 0:
        return ""
    return "".join(_SPARKS[round(number / most * (len(_SPARKS) - 1))] for number in numbers)
