"""Runs one side of a benchmark as a process of its own, so that neither side shares an interpreter."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.server import valkey

LONGEST_S: Final = 300
ROOT: Final = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Side:
    """A program that does one thing and says how it went in a JSON object, the last line of its output.

    Args:
        name: what the table calls it.
        command: the program; the address of a server comes next, then ``arguments``.
        arguments: how much of what.
    """

    name: str
    command: tuple[str, ...]
    arguments: tuple[str, ...] = ()

    def start(self, *first: str) -> subprocess.Popen[str]:
        """Start it; see `result`."""
        return subprocess.Popen(  # noqa: S603 - our own programs
            [*self.command, *first, *self.arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    def result(self, process: subprocess.Popen[str]) -> dict[str, Any]:
        """Wait for it, at most LONGEST_S, and read what it said.

        Raises:
            RuntimeError: it failed or hung; the message has what it said.
        """
        with process:
            try:
                out, err = process.communicate(timeout=LONGEST_S)
            except subprocess.TimeoutExpired:
                raise RuntimeError(f"{self.name} was not done in {LONGEST_S} s: {' '.join(self.command)}") from None
            finally:
                process.kill()
        if process.returncode != 0:
            raise RuntimeError(f"{self.name} failed with {process.returncode}: {err[-2000:].strip()}")
        said: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
        return said

    def run(self, *first: str) -> dict[str, Any]:
        """Start it, and wait for it."""
        return self.result(self.start(*first))


def ours(program: str, *arguments: float | str) -> Side:
    """The side that ``benchmarks/sides`` has under this name."""
    words = tuple(map(str, arguments))
    return Side(" ".join((program, *words)), (sys.executable, "-m", f"benchmarks.sides.{program}"), words)


def alternate(runs: int, sides: Sequence[Side], peers: Sequence[Side] = ()) -> dict[str, list[dict[str, Any]]]:
    """Run each side and each peer in turn, ``runs`` times, each on a fresh server; answers what each said, by its name.

    A peer that fails is told of and left out, as if it weren't installed: it is no reason not to measure us.

    Raises:
        RuntimeError: one of ``sides`` failed.
    """
    said: dict[str, list[dict[str, Any]]] = {side.name: [] for side in (*sides, *peers)}
    for _ in range(runs):
        for side in (*peers, *sides):
            if side.name not in said:
                continue
            try:
                with valkey() as url:
                    said[side.name].append(side.run(url))
            except RuntimeError as error:
                if side in sides:
                    raise
                print(f"left out: {error}", file=sys.stderr)
                del said[side.name]
    return said


def say(**result: object) -> None:
    """Print a side's result as its last line."""
    print(json.dumps(result))
