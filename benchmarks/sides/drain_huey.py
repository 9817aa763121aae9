"""Drains no-op jobs from huey with one worker process: ``python -m benchmarks.sides.drain_huey URL JOBS THREADS``."""

from __future__ import annotations

import sys
import time

from benchmarks.loads import PAYLOAD
from benchmarks.process import say
from benchmarks.sides.countdown import Countdown
from benchmarks.sides.huey_at import HueyAt


def main(url: str, jobs: int, threads: int) -> None:
    countdown = Countdown(jobs)
    queue = HueyAt(url, countdown.done)
    for _ in range(jobs):
        queue.send(PAYLOAD.decode())
    began = time.monotonic()
    queue.start(threads)
    countdown.wait()
    elapsed_s = time.monotonic() - began
    queue.stop()
    say(per_s=jobs / elapsed_s)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:4]))
