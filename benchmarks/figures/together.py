"""Forty claimers in four processes on one group: each job is done exactly once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from benchmarks.figure import Figure, at_least, of_runs
from benchmarks.loads import fill_at, jobs
from benchmarks.peers import Peers
from benchmarks.process import ours
from benchmarks.server import valkey
from benchmarks.sizes import Sizes

_PROCESSES: Final = 4
_CLAIMERS: Final = 40


def measure(sizes: Sizes, _: Peers) -> Iterator[Figure]:
    with valkey() as url:
        fill_at(url, jobs(sizes.raced, 1))
        side = ours("claim_together", _CLAIMERS // _PROCESSES)
        running = [side.start(url) for _ in range(_PROCESSES)]
        done = Counter(job for process in running for job in side.result(process)["done"])
    yield of_runs(
        f"jobs done exactly once of {sizes.raced:,} in one group, {_CLAIMERS} claimers in {_PROCESSES} processes",
        "jobs",
        [sum(times == 1 for times in done.values())],
        bound=at_least(sizes.raced),
    )
