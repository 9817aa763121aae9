"""Drains no-op jobs from dramatiq with one worker process.

``python -m benchmarks.sides.drain_dramatiq URL JOBS THREADS``
"""

from __future__ import annotations

import sys
import time

import dramatiq

from benchmarks.loads import PAYLOAD
from benchmarks.process import say
from benchmarks.sides.countdown import Countdown
from benchmarks.sides.dramatiq_at import broker_at, sender


def main(url: str, jobs: int, threads: int) -> None:
    broker = broker_at(url)
    countdown = Countdown(jobs)
    send = sender(broker, countdown.done)
    for _ in range(jobs):
        send(PAYLOAD.decode())
    worker = dramatiq.Worker(broker, worker_threads=threads)
    began = time.monotonic()
    worker.start()
    countdown.wait()
    elapsed_s = time.monotonic() - began
    worker.stop()
    say(per_s=jobs / elapsed_s)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:4]))
