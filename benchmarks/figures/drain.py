"""No-op jobs drained by one worker process, against the peers and the server's own limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from benchmarks.figure import Figure, of_runs, times_at_least
from benchmarks.peers import Peers, best
from benchmarks.process import alternate, ours
from benchmarks.sizes import Sizes

BATCH: Final = 32
DRAMATIQ_THREADS: Final = (16, 32)
HUEY_THREADS: Final = 8
NODE_CONCURRENCY: Final = (64, 256)


def measure(sizes: Sizes, peers: Peers) -> Iterator[Figure]:
    lanes = ours("drain_lanes", sizes.drained, sizes.groups, BATCH, "batch")
    single = ours("drain_lanes", sizes.drained, sizes.groups, BATCH, "job")
    bare = ours("drain_bare", sizes.drained, sizes.groups, BATCH)
    # A quick run takes each peer's first setting, a full one finds out which is best.
    python = [
        *(
            side
            for it in DRAMATIQ_THREADS[: sizes.runs]
            for side in peers.of_python("drain_dramatiq", sizes.drained_python, it)
        ),
        *peers.of_python("drain_huey", sizes.drained_python, HUEY_THREADS),
    ]
    groupmq, bullmq = (
        [
            side
            for it in NODE_CONCURRENCY[: sizes.runs]
            for side in peers.of_node(program, sizes.drained_node, sizes.groups, it)
        ]
        for program in ("drain_groupmq", "drain_bullmq")
    )
    said = alternate(sizes.runs, [lanes, single, bare], [*python, *groupmq, *bullmq])
    drained = [one["per_s"] for one in said[lanes.name]]
    what = f"no-op jobs drained, one worker process, {sizes.groups:,} groups, ceilings and weights on, {BATCH} a claim"
    for name, its, bound in (
        ("the best Python peer", python, 8.0),
        ("GroupMQ on Node", groupmq, 1.5),
        ("BullMQ on Node", bullmq, None),
    ):
        yield of_runs(
            f"{what}; against {name}",
            "jobs/s",
            drained,
            against=best(said, "per_s", its),
            bound=None if bound is None else times_at_least(bound),
        )
    yield of_runs(
        f"{what} but a handler a job; against the best Python peer",
        "jobs/s",
        [one["per_s"] for one in said[single.name]],
        against=best(said, "per_s", python),
    )
    limit = [one["per_s"] for one in said[bare.name]]
    yield of_runs(
        f"{what}; against the same scripts over bare sockets",
        "jobs/s",
        drained,
        against=limit,
        bound=times_at_least(0.5),
    )
