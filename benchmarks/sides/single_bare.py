"""Claims one job and completes it over a bare socket: ``python -m benchmarks.sides.single_bare URL JOBS GROUPS``."""

from __future__ import annotations

import sys
import time

from benchmarks.bare import Bare, leases_of
from benchmarks.loads import fill_at, jobs
from benchmarks.process import say


def main(url: str, count: int, among: int) -> None:
    fill_at(url, jobs(count, among))
    bare = Bare(url)
    bare.load("claim", "complete")
    began = time.monotonic()
    for _ in range(count):
        bare.send(bare.claim(1))
        bare.send(bare.complete(leases_of(bare.receive())))
        bare.receive()
    say(per_s=count / (time.monotonic() - began))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:4]))
