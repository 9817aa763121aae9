"""Measure, and print a table; a figure that misses its bound is shown as such and fails nothing."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from rich.console import Console

from benchmarks.figure import Figure
from benchmarks.figures import (
    drain,
    durability,
    enqueue,
    eta,
    fairness,
    flood,
    guesses,
    memory,
    redis_time,
    single,
    tenants,
    together,
    wake,
    webhook,
)
from benchmarks.peers import Peers
from benchmarks.report import table, write
from benchmarks.sizes import FULL, QUICK, Sizes

NODE_PEERS: Final = "CODEMOJEX_NODE_PEERS"
_WIDTH: Final = 160
_NOT_QUICK: Final = ("webhook", "durability", "fairness", "flood")
_INTERRUPTED: Final = 130
Measure = Callable[[Sizes, Peers], Iterator[Figure]]
SUBJECTS: Final[Mapping[str, Measure]] = MappingProxyType(
    {
        "drain": drain.measure,
        "redis-time": redis_time.measure,
        "enqueue": enqueue.measure,
        "tenants": tenants.measure,
        "wake": wake.measure,
        "memory": memory.measure,
        "together": together.measure,
        "single": single.measure,
        "eta": eta.measure,
        "guesses": guesses.measure,
        "webhook": webhook.measure,
        "durability": durability.measure,
        "fairness": fairness.measure,
        "flood": flood.measure,
    }
)


def main() -> None:
    """Measure what was asked for and print it."""
    asked = _parser().parse_args()
    node = os.environ.get(NODE_PEERS) if asked.node_peers is None else asked.node_peers
    try:
        peers = Peers(Path(node) if node else None)
        figures = list(_measured(asked.only or _subjects(quick=asked.quick), QUICK if asked.quick else FULL, peers))
    except RuntimeError as error:
        sys.exit(f"the benchmarks can't go on: {error}")
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    Console(width=None if sys.stdout.isatty() else _WIDTH).print(table(figures))
    if asked.json is not None:
        write(figures, asked.json)


def _subjects(*, quick: bool) -> list[str]:
    """What is measured unless somebody asks: a quick run leaves out whole processes, disks, and what tests hold."""
    return [subject for subject in SUBJECTS if not (quick and subject in _NOT_QUICK)]


def _measured(subjects: Iterable[str], sizes: Sizes, peers: Peers) -> Iterator[Figure]:
    with Console(stderr=True).status("measuring") as status:
        for subject in subjects:
            status.update(f"measuring: {subject}")
            yield from SUBJECTS[subject](sizes, peers)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller loads, fewer runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    parser.add_argument("--only", action="append", choices=list(SUBJECTS), help="measure this; may be given again")
    parser.add_argument(
        "--node-peers",
        metavar="DIR",
        help=f"a folder where `npm install groupmq ioredis bullmq` was run; {NODE_PEERS} unless given",
    )
    return parser


if __name__ == "__main__":
    main()
