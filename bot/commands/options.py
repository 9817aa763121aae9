"""Options that several commands share."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

_PIPE_WIDTH: Final = 120
"""Of what is printed where there is no terminal."""

DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        metavar="DIR",
        help="Where it keeps its data; .data in the current directory unless CODEMOJEX_DATA_DIR says otherwise.",
    ),
]


def console() -> Console:
    """Standard output; as wide as tables want it where it is no terminal."""
    return Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH)
