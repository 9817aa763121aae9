"""Measure, and print a table; a figure that misses its bound is shown as such and fails nothing."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Final

from rich.console import Console

from benchmarks.figure import Figure
from benchmarks.figures import drain, enqueue, eta, guesses, memory, redis_time, single, tenants, together, wake
from benchmarks.peers import Peers
from benchmarks.report import table, write
from benchmarks.sizes import FULL, QUICK, Sizes

NODE_PEERS: Final = "CODEMOJEX_NODE_PEERS"
SUBJECTS: Final = MappingProxyType(
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
    }
)
Measure = Callable[[Sizes, Peers], Iterator[Figure]]


def main() -> None:
    """Measure what was asked for and print it."""
    asked = _parser().parse_args()
    node = os.environ.get(NODE_PEERS) if asked.node_peers is None else asked.node_peers
    peers = Peers(Path(node) if node else None)
    figures: list[Figure] = []
    with Console(stderr=True).status("measuring") as status:
        for subject in asked.only or SUBJECTS:
            status.update(f"measuring: {subject}")
            figures += SUBJECTS[subject](QUICK if asked.quick else FULL, peers)
    Console(width=None if Console().is_terminal else 160).print(table(figures))
    if asked.json is not None:
        write(figures, asked.json)


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
