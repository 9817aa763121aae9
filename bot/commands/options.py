"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        metavar="DIR",
        help="Where it keeps its data; .data in the current directory unless CODEMOJEX_DATA_DIR says otherwise.",
    ),
]
