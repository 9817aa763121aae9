"""``python -m benchmarks [--quick]``: measure, and print a table. Nothing here fails on a slow machine."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.figure import Figure, of_runs
from benchmarks.process import run
from bot.embedded import EmbeddedValkey
from tests.servers.postgres import PostgresServer

_DRAMATIQ_THREADS = 16


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller loads, fewer runs")
    quick = parser.parse_args().quick
    figures = [*_drain(quick=quick), *_score(quick=quick)]
    Console(width=120).print(_table(figures))


def _drain(*, quick: bool) -> Iterator[Figure]:
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(2 if quick else 5):
        with _valkey() as url:
            theirs.append(run("benchmarks.drain_dramatiq", url, "10000", str(_DRAMATIQ_THREADS))["per_s"])
        with _valkey() as url:
            ours.append(run("benchmarks.drain_lanes", url, "50000", "1000", "32")["per_s"])
    yield of_runs(
        "no-op jobs drained, one worker process: 1,000 groups, ceilings on, 32 a claim; against dramatiq's",
        "jobs/s",
        ours,
        against=theirs,
        bound=5,
    )


def _score(*, quick: bool) -> Iterator[Figure]:
    for durable in (False, True):
        runs: list[float] = []
        with PostgresServer(durable=durable) as postgres:
            for _ in range(1 if quick else 3):
                name = postgres.create()
                with _valkey() as url:
                    guesses = 20_000
                    done = run("benchmarks.score_guesses", url, postgres.url(name), str(guesses))
                    if done["committed"] != guesses:
                        raise RuntimeError(f"{done['committed']} of {guesses} guesses were committed")
                runs.append(done["per_s"])
        how = "commits synced to disk" if durable else "commits not synced"
        yield of_runs(
            f"guesses scored and committed to PostgreSQL, one worker process; {how}", "guesses/s", runs, bound=5_000
        )


@contextmanager
def _valkey() -> Iterator[str]:
    with (
        tempfile.TemporaryDirectory(prefix="cmbench-") as home,
        EmbeddedValkey(Path(home), options={"appendonly": "no"}) as server,
    ):
        yield server.url


def _table(figures: list[Figure]) -> Table:
    table = Table(title="Codemojex benchmarks: medians of one run on this machine")
    for heading in ("figure", "value", "min", "max", "against", "ratio", "to reach", "ok"):
        table.add_column(heading, justify="left" if heading == "figure" else "right")
    for figure in figures:
        table.add_row(
            figure.name,
            f"{figure.value:,.0f} {figure.unit}",
            f"{figure.least:,.0f}",
            f"{figure.most:,.0f}",
            "" if figure.against is None else f"{figure.against:,.0f}",
            "" if figure.ratio is None else f"{figure.ratio:.1f}",
            f">= {figure.bound:,.0f}",
            "yes" if figure.ok else "no",
        )
    return table


if __name__ == "__main__":
    main()
