"""Which other queues there are to be held against: what isn't installed is left out."""

from __future__ import annotations

import importlib.util
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.process import ROOT, Side, ours

_NODE = ROOT / "benchmarks" / "node"
BULK_PEERS = ("dramatiq", "huey", "bullmq")
"""BullMQ's Python port is the fastest that takes many jobs in one call; the others have no such call."""


@dataclass(frozen=True, slots=True)
class Peers:
    """The peers of one run.

    Args:
        node_modules: the folder in whose ``node_modules`` groupmq (with ioredis) and bullmq may be; None for none.
        python: whether the Python ones take part.
    """

    node_modules: Path | None = None
    python: bool = True

    def of_python(self, does: str, names: tuple[str, ...], *arguments: int) -> list[Side]:
        """The sides ``{does}_{name}`` of those that are installed."""
        return [
            ours(f"{does}_{name}", *arguments)
            for name in names
            if self.python and importlib.util.find_spec(name) is not None
        ]

    def of_node(self, does: str, names: tuple[str, ...], *arguments: int) -> list[Side]:
        """The programs ``{does}_{name}`` of those that are installed, if Node is."""
        node, folder = shutil.which("node"), self.node_modules
        if node is None or folder is None:
            return []
        return [
            Side(
                " ".join((f"{does}_{name}", *map(str, arguments))),
                (node, str(_NODE / f"{does}_{name}.cjs"), str(folder.resolve())),
                tuple(map(str, arguments)),
            )
            for name in names
            if (folder / "node_modules" / name).is_dir()
        ]


def best(said: dict[str, list[dict[str, Any]]], what: str, sides: list[Side], *, lowest: bool = False) -> list[float]:
    """The runs of the peer whose median is best; empty if none was there."""
    runs = [[float(one[what]) for one in said[side.name]] for side in sides if said.get(side.name)]
    by_median = sorted(runs, key=lambda its: sorted(its)[len(its) // 2])
    if not by_median:
        return []
    return by_median[0 if lowest else -1]
