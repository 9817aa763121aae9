"""Jobs handed in by one process: many in a call, and one by one by fifty producers that each wait for the answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from benchmarks.figure import Figure, of_runs, times_at_least
from benchmarks.peers import Peers, best
from benchmarks.process import alternate, ours
from benchmarks.sizes import Sizes

PRODUCERS: Final = 50


def measure(sizes: Sizes, peers: Peers) -> Iterator[Figure]:
    lanes = ours("enqueue_lanes", sizes.handed_in, PRODUCERS, sizes.groups)
    # Of these, only BullMQ's Python port takes many jobs in one call; the others are called for each.
    python = [
        side
        for program in ("enqueue_dramatiq", "enqueue_huey", "enqueue_bullmq")
        for side in peers.of_python(program, sizes.handed_in_python, PRODUCERS)
    ]
    said = alternate(sizes.runs, [lanes], python)
    for name, what, times in (
        ("jobs handed in by enqueue_many; against the fastest bulk call (or else loop) of a Python peer", "bulk", 2),
        (f"jobs handed in by {PRODUCERS} producers that await enqueue; against the best Python peer's", "awaited", 4),
    ):
        yield of_runs(
            name,
            "jobs/s",
            [one[f"{what}_per_s"] for one in said[lanes.name]],
            against=best(said, f"{what}_per_s", python),
            bound=times_at_least(times),
        )
