"""How long a parked worker takes to have a job, against the best peer and beside the floor."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.figure import Figure, of_runs, times_at_most
from benchmarks.peers import Peers, best
from benchmarks.process import alternate, ours
from benchmarks.sizes import Sizes


def measure(sizes: Sizes, peers: Peers) -> Iterator[Figure]:
    lanes = ours("wake_lanes", sizes.wakes)
    bare = ours("wake_bare", sizes.wakes)
    others = [
        *peers.of_python("wake_dramatiq", sizes.wakes, 16),
        *peers.of_python("wake_huey", sizes.wakes, 8),
        *peers.of_node("wake_groupmq", sizes.wakes),
        *peers.of_node("wake_bullmq", sizes.wakes),
    ]
    said = alternate(sizes.runs, [lanes, bare], others)
    for percentile in ("p50", "p99"):
        what = f"{percentile}_ms"
        took = [one[what] for one in said[lanes.name]]
        yield of_runs(
            f"wake of a parked worker, {percentile}; against the best peer's",
            "ms",
            took,
            against=best(said, what, others, lowest=True),
            bound=times_at_most(1.25),
        )
        yield of_runs(
            f"wake of a parked worker, {percentile}; against a blocked pop over bare sockets",
            "ms",
            took,
            against=[one[what] for one in said[bare.name]],
        )
