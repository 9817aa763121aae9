"""Drains no-op jobs from dramatiq with one worker process: ``python -m benchmarks.drain_dramatiq URL JOBS THREADS``."""

from __future__ import annotations

import itertools
import sys
import threading
import time

import dramatiq
from dramatiq.brokers.redis import RedisBroker

from benchmarks.process import say


def main(url: str, jobs: int, threads: int) -> None:
    broker = RedisBroker(url=url, middleware=[])  # type: ignore[no-untyped-call]  # its __init__ has no annotations
    dramatiq.set_broker(broker)
    count = itertools.count(1)
    finished = threading.Event()

    @dramatiq.actor(broker=broker)
    def no_op(payload: str) -> None:
        if next(count) == jobs and payload:
            finished.set()

    for _ in range(jobs):
        no_op.send("x" * 64)
    worker = dramatiq.Worker(broker, worker_threads=threads)
    began = time.monotonic()
    worker.start()
    if not finished.wait(120):
        raise RuntimeError(f"only {next(count) - 1} of {jobs} jobs were done in 120 s")
    elapsed_s = time.monotonic() - began
    worker.stop()
    say(per_s=jobs / elapsed_s)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:4]))
