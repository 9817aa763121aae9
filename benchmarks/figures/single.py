"""One job at a time: `claim(1)` and `complete`, a round trip each; printed beside the bare socket's."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.figure import Figure, of_runs
from benchmarks.peers import Peers
from benchmarks.process import alternate, ours
from benchmarks.sizes import Sizes


def measure(sizes: Sizes, _: Peers) -> Iterator[Figure]:
    lanes = ours("single_lanes", sizes.single, sizes.groups)
    bare = ours("single_bare", sizes.single, sizes.groups)
    said = alternate(sizes.runs, [lanes, bare])
    yield of_runs(
        "claim(1) and complete, a round trip each; against the same over a bare socket",
        "jobs/s",
        [one["per_s"] for one in said[lanes.name]],
        against=[one["per_s"] for one in said[bare.name]],
    )
