"""Hands jobs in to huey: ``python -m benchmarks.sides.enqueue_huey URL JOBS PRODUCERS``."""

from __future__ import annotations

import sys

from benchmarks.process import say
from benchmarks.sides.huey_at import HueyAt
from benchmarks.sides.producing import by_threads


def main(url: str, jobs: int, producers: int) -> None:
    send = HueyAt(url, lambda _: None).send
    by_threads(send, producers, producers)  # connects
    say(bulk_per_s=by_threads(send, jobs, 1), awaited_per_s=by_threads(send, jobs, producers))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:4]))
