"""How long a parked worker takes to have a job: from before it is handed in, to where it is run.

Producer and worker are two processes. A job's payload is when it was handed in; Linux has one monotonic clock for all
processes. The worker writes a line when it is ready, and one for each job: how many ms that took.
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Final

from benchmarks.process import ROOT, say

_PARKS_WITHIN_S: Final = 0.005
_WORKER: Final = "worker"
Await = Callable[[str], Awaitable[object]]


def stamp() -> str:
    """Now, as a payload."""
    return str(time.monotonic_ns())


def had(payload: str | bytes) -> None:
    """Tell the producer how long ago the job was handed in."""
    sys.stdout.write(f"{(time.monotonic_ns() - int(payload)) / 1e6}\n")
    sys.stdout.flush()


def ready() -> None:
    """Tell the producer that the worker works."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()


def is_worker() -> bool:
    """Whether this is the process of the worker."""
    return sys.argv[-1] == _WORKER


def wake(send: Callable[[str], object], jobs: int) -> None:
    """Hand in one job after the other, each when the worker has parked, and say the percentiles."""
    with _worker() as lines:
        _say([_one(lines, send) for _ in range(jobs)])


async def wake_async(send: Await, jobs: int) -> None:
    """`wake`, for an asynchronous client."""
    with _worker() as lines:
        took = []
        for _ in range(jobs):
            await asyncio.sleep(_pause_s())
            await send(stamp())
            took.append(float(next(lines)))
        _say(took)


def _one(lines: Iterator[str], send: Callable[[str], object]) -> float:
    time.sleep(_pause_s())
    send(stamp())
    return float(next(lines))


def _pause_s() -> float:
    return _PARKS_WITHIN_S * random.uniform(1, 2)  # noqa: S311 - so that no timer of the worker's keeps step


@contextmanager
def _worker() -> Iterator[Iterator[str]]:
    with (
        subprocess.Popen(  # noqa: S603 - this program once more
            [sys.executable, *_this_program(), *sys.argv[1:], _WORKER],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        ) as process
    ):
        try:
            if process.stdout is None or next(process.stdout) != "ready\n":
                raise RuntimeError("the worker did not start")
            yield process.stdout
        finally:
            process.kill()


def _this_program() -> tuple[str, str]:
    spec = sys.modules["__main__"].__spec__
    if spec is None:
        raise RuntimeError("start it with python -m")
    return "-m", spec.name


def _say(took: list[float]) -> None:
    took.sort()
    say(p50_ms=took[len(took) // 2], p99_ms=took[min(len(took) * 99 // 100, len(took) - 1)])
