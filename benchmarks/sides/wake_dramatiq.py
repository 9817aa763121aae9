"""Wakes a parked worker of dramatiq: ``python -m benchmarks.sides.wake_dramatiq URL JOBS THREADS``."""

from __future__ import annotations

import signal
import sys

import dramatiq

from benchmarks.sides.dramatiq_at import broker_at, sender
from benchmarks.sides.waking import had, is_worker, ready, wake


def main(url: str, jobs: int, threads: int) -> None:
    broker = broker_at(url)
    send = sender(broker, had)
    if is_worker():
        dramatiq.Worker(broker, worker_threads=threads).start()
        ready()
        signal.pause()
    wake(send, jobs)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:4]))
