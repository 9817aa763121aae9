"""What a run found: a table for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from benchmarks.figure import Figure, shown


def table(figures: Sequence[Figure]) -> Table:
    """A row for each figure, beside what it is held against and what it should reach."""
    made = Table(title="Codemojex benchmarks: medians of one run on this machine")
    for heading in ("figure", "value", "min", "max", "against", "ratio", "to reach", "ok"):
        made.add_column(heading, justify="left" if heading == "figure" else "right")
    for figure in figures:
        made.add_row(
            figure.name,
            f"{shown(figure.value)} {figure.unit}",
            shown(figure.least),
            shown(figure.most),
            "" if figure.against is None else shown(figure.against),
            "" if figure.ratio is None else f"{figure.ratio:.2f}",
            "" if figure.bound is None else str(figure.bound),
            _verdict(figure),
            style=None if figure.ok else "bold red",
        )
    return made


def _verdict(figure: Figure) -> str:
    if figure.bound is None:
        return ""
    if figure.bound.of_ratio and figure.ratio is None:
        return "no peer"
    return "yes" if figure.ok else "no"


def write(figures: Sequence[Figure], file: Path) -> None:
    """Write ``{"figures": [...]}``, whole or not at all."""
    part = file.with_name(f".{file.name}.part")
    part.write_text(json.dumps({"figures": [figure.as_json() for figure in figures]}, indent=2) + "\n")
    part.replace(file)
