"""Wakes a parked worker of huey: ``python -m benchmarks.sides.wake_huey URL JOBS THREADS``."""

from __future__ import annotations

import signal
import sys

from benchmarks.sides.huey_at import HueyAt
from benchmarks.sides.waking import had, is_worker, ready, wake


def main(url: str, jobs: int, threads: int) -> None:
    queue = HueyAt(url, had)
    if is_worker():
        queue.start(threads)
        ready()
        signal.pause()
    wake(queue.send, jobs)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:4]))
