"""By how much `QueueFull` is off when it says how long what waits will take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from benchmarks.figure import Figure, at_most, of_runs
from benchmarks.peers import Peers
from benchmarks.process import ours
from benchmarks.server import valkey
from benchmarks.sizes import Sizes

_GROUPS: Final = 4
_CAP: Final = 100
_JOBS_PER_S: Final = 400


def measure(sizes: Sizes, _: Peers) -> Iterator[Figure]:
    with valkey() as url:
        told = ours("eta_lanes", _GROUPS, _CAP, _JOBS_PER_S, *sizes.steady_ms).run(url)
    yield of_runs(
        f"QueueFull's ETA is off by, nine times in ten; {_JOBS_PER_S} jobs/s steadily, {_GROUPS} groups",
        "%",
        [told["p90"]],
        bound=at_most(30),
    )
