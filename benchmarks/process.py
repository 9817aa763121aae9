"""Runs one side of a benchmark as a process of its own, so that neither side shares an interpreter."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

LONGEST_S = 300


def run(module: str, *arguments: str) -> dict[str, Any]:
    """Run ``python -m module``; its last line of output is a JSON object.

    Raises:
        RuntimeError: it failed; the message has what it said.
    """
    done = subprocess.run(  # noqa: S603 - our own modules
        [sys.executable, "-m", module, *arguments], capture_output=True, text=True, timeout=LONGEST_S, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{module} failed with {done.returncode}: {done.stderr[-2000:]}")
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def say(**result: float) -> None:
    """Print a side's result as its last line."""
    print(json.dumps(result))
