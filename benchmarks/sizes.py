"""How much of everything a run measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Sizes:
    """One scale of all loads.

    Args:
        runs: of each side, in turn.
        cost_runs: alternating runs of what is asked of the server's own clock.
        groups: the tenants in most figures.
        many_groups: the tenants where it is asked what their number costs.
        blocked_groups: the tenants that are at their ceilings beside a claim.
        drained: jobs drained by the lanes.
        drained_node: jobs drained by Node's queues.
        drained_python: jobs drained by the Python peers, which are slower.
        handed_in: jobs handed in to the lanes.
        handed_in_python: jobs handed in to the Python peers.
        costed_calls: calls of each kind in a run of the server's clock; of `claim(32)` and bulk calls a tenth of it.
        wakes: jobs that wake a worker.
        remembered: jobs whose memory is measured.
        lane: the longer of the two lanes whose memory is measured.
        raced: jobs that forty claimers race for.
        single: jobs claimed and completed one by one.
        steady_ms: warm-up and span of the steady load.
        guesses: guesses scored.
        posts: guesses posted to a webhook, at each of two rates.
        kept: jobs handed in one by one to a server that keeps a file; more are in other ways.
        flooded: jobs of one room beside two small backlogs.
        weighed: jobs of each of three weights.
        ring_steps: looks at the ring.
        timed: slow jobs that are done beside quick ones.
        flood_guesses: guesses of a flood through the whole product.
        flood_s: how long its guesses are said.
    """

    runs: int
    cost_runs: int
    groups: int
    many_groups: int
    blocked_groups: int
    drained: int
    drained_node: int
    drained_python: int
    handed_in: int
    handed_in_python: int
    costed_calls: int
    wakes: int
    remembered: int
    lane: int
    raced: int
    single: int
    steady_ms: tuple[int, int]
    guesses: int
    posts: int
    kept: int
    flooded: int
    weighed: int
    ring_steps: int
    timed: int
    flood_guesses: int
    flood_s: float


FULL: Final = Sizes(
    runs=5,
    cost_runs=7,
    groups=10_000,
    many_groups=100_000,
    blocked_groups=100_000,
    drained=100_000,
    drained_node=20_000,
    drained_python=10_000,
    handed_in=50_000,
    handed_in_python=10_000,
    costed_calls=500,
    wakes=500,
    remembered=100_000,
    lane=10_000,
    raced=10_000,
    single=5_000,
    steady_ms=(5_000, 5_000),
    guesses=20_000,
    posts=20_000,
    kept=5_000,
    flooded=100_000,
    weighed=20_000,
    ring_steps=2_000,
    timed=400,
    flood_guesses=20_000,
    flood_s=150.0,
)
QUICK: Final = Sizes(
    runs=1,
    cost_runs=7,
    groups=10_000,
    many_groups=100_000,
    blocked_groups=20_000,
    drained=30_000,
    drained_node=10_000,
    drained_python=3_000,
    handed_in=10_000,
    handed_in_python=3_000,
    costed_calls=100,
    wakes=80,
    remembered=20_000,
    lane=10_000,
    raced=10_000,
    single=1_000,
    steady_ms=(2_400, 1_000),
    guesses=4_000,
    posts=4_000,
    kept=1_500,
    flooded=5_000,
    weighed=2_000,
    ring_steps=200,
    timed=300,
    flood_guesses=4_000,
    flood_s=30.0,
)
TINY: Final = Sizes(
    runs=1,
    cost_runs=1,
    groups=50,
    many_groups=200,
    blocked_groups=20,
    drained=200,
    drained_node=100,
    drained_python=100,
    handed_in=1_000,
    handed_in_python=100,
    costed_calls=10,
    wakes=3,
    remembered=1_000,
    lane=500,
    raced=400,
    single=20,
    steady_ms=(200, 200),
    guesses=100,
    posts=100,
    kept=100,
    flooded=500,
    weighed=200,
    ring_steps=60,
    timed=40,
    flood_guesses=300,
    flood_s=5.0,
)
"""For looking at what the benchmarks say, not at how fast anything is."""
