"""Wakes a blocked pop over bare sockets, the floor of any wake: ``python -m benchmarks.sides.wake_bare URL JOBS``."""

from __future__ import annotations

import sys

from benchmarks.bare import Bare
from benchmarks.sides.waking import had, is_worker, ready, wake


def main(url: str, jobs: int) -> None:
    bare = Bare(url)
    if is_worker():
        ready()
        while True:
            had(bare.call("BLPOP", "bench", 0)[1])
    wake(lambda payload: bare.call("RPUSH", "bench", payload), jobs)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
