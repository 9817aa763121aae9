"""Which other queues there are to be held against: what isn't installed is left out."""

from __future__ import annotations

import importlib.util
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.process import ROOT, Side, ours

_NODE = ROOT / "benchmarks" / "node"


@dataclass(frozen=True, slots=True)
class Peers:
    """The peers of one run.

    Args:
        node_modules: the folder in whose ``node_modules`` groupmq (with ioredis) and bullmq may be; None for none.
        python: whether the Python ones take part.
    """

    node_modules: Path | None = None
    python: bool = True

    def of_python(self, program: str, *arguments: int) -> list[Side]:
        """The side ``{what it does}_{peer}``, or none if the peer isn't installed."""
        if not self.python or importlib.util.find_spec(_peer(program)) is None:
            return []
        return [ours(program, *arguments)]

    def of_node(self, program: str, *arguments: int) -> list[Side]:
        """The program ``{what it does}_{peer}``, or none if the peer or Node isn't installed."""
        node, folder = shutil.which("node"), self.node_modules
        if node is None or folder is None or not (folder / "node_modules" / _peer(program)).is_dir():
            return []
        words = tuple(map(str, arguments))
        return [Side(" ".join((program, *words)), (node, str(_NODE / f"{program}.cjs"), str(folder.resolve())), words)]


def _peer(program: str) -> str:
    return program.rpartition("_")[2]


def best(said: dict[str, list[dict[str, Any]]], what: str, sides: list[Side], *, lowest: bool = False) -> list[float]:
    """The runs of the peer whose median is best; empty if none was there."""
    runs = [[float(one[what]) for one in said[side.name]] for side in sides if said.get(side.name)]
    by_median = sorted(runs, key=lambda its: sorted(its)[len(its) // 2])
    if not by_median:
        return []
    return by_median[0 if lowest else -1]
