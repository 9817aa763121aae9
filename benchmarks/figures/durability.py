"""What it costs to keep an admission: the server's file synced at every write, once a second, or never."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from benchmarks.figure import Figure, of_runs
from benchmarks.peers import Peers
from benchmarks.process import ours
from benchmarks.server import valkey
from benchmarks.sizes import Sizes
from bot.embedded import Fsync

PRODUCERS: Final = 50
_POLICIES: Final[tuple[Fsync, ...]] = ("always", "everysec", "no")


def measure(sizes: Sizes, _: Peers) -> Iterator[Figure]:
    admit = ours("admit_lanes", sizes.kept, PRODUCERS)
    runs: dict[str, list[dict[str, float]]] = {policy: [] for policy in _POLICIES}
    for _run in range(sizes.runs):
        for policy in _POLICIES:  # in turn, so that all have the disk as it is just then
            with valkey(durable=True, fsync=policy) as url:
                runs[policy].append(admit.run(url))
    for what, key in (
        ("admissions awaited one by one", "lone_per_s"),
        (f"admissions by {PRODUCERS} producers that each await theirs", "together_per_s"),
        ("admissions by enqueue_many, 1,000 a call", "bulk_per_s"),
    ):
        for policy in _POLICIES:
            yield of_runs(
                f"{what}; appendfsync {policy}, against no",
                "jobs/s",
                [run[key] for run in runs[policy]],
                against=[run[key] for run in runs["no"]],
            )
