"""What a claim, its settlement and an admission cost the server, with levers and without."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Final

from benchmarks.bare import set_levers
from benchmarks.figure import Figure, at_most, of_runs, times_at_most
from benchmarks.loads import fill, groups, jobs
from benchmarks.peers import Peers
from benchmarks.server import valkey
from benchmarks.server_time import Cost, Work, alternating
from benchmarks.sizes import Sizes
from benchmarks.works import Admitting, Claiming
from bot.redis_server import open_redis
from engine.lanes import Lanes

BATCH: Final = 32
_CEILING: Final = 1_000
_CAP: Final = 1_000_000
_ON: Final = "levers"
_OFF: Final = "bare"


def measure(sizes: Sizes, _: Peers) -> Iterator[Figure]:
    with valkey() as url:
        set_levers(url, _ON, groups(sizes.groups), ceiling=_CEILING, weights=(1,), cap=_CAP)
        costs = asyncio.run(_costs(url, sizes))
    for queue, levers, bound in ((_ON, "ceilings, weights and caps on", at_most(18)), (_OFF, "no levers", None)):
        yield of_runs(
            f"server time of a job's claim({BATCH}) and settlement (exchange), {sizes.groups:,} groups, {levers}",
            "us",
            _us(costs[f"{queue} exchange"]),
            bound=bound,
        )
    for work, what, times in (
        ("claim(1)", "claim(1)", 1.05),
        (f"claim({BATCH})", f"a job of claim({BATCH})", 1.05),
        ("enqueue", "enqueue", 1.15),
        ("enqueue_many", "a job of enqueue_many", 1.15),
    ):
        yield of_runs(
            f"server time of {what} with ceilings, weights (of 1) and caps, {sizes.groups:,} groups; against without",
            "us",
            _us(costs[f"{_ON} {work}"]),
            against=_us(costs[f"{_OFF} {work}"]),
            bound=times_at_most(times),
        )


async def _costs(url: str, sizes: Sizes) -> dict[str, list[Cost]]:
    tenth = max(1, sizes.costed_calls // 10)
    taken = (sizes.cost_runs + 1) * (sizes.costed_calls + 2 * tenth * BATCH)
    # Each visit finds a group that keeps a job: groups that come and go are another matter.
    load = sizes.groups * (taken // sizes.groups + 2)
    async with open_redis(url) as redis:
        works: dict[str, Work] = {}
        for queue in (_OFF, _ON):
            lanes = Lanes(redis, queue)
            await fill(lanes, jobs(load, sizes.groups))
            admitting = Admitting(lanes, sizes.groups, first=load)
            works[f"{queue} exchange"] = Claiming(lanes, tenth, BATCH).exchange
            works[f"{queue} claim(1)"] = Claiming(lanes, sizes.costed_calls, 1).claim
            works[f"{queue} claim({BATCH})"] = Claiming(lanes, tenth, BATCH).claim
            works[f"{queue} enqueue"] = admitting.one_by_one(sizes.costed_calls)
            works[f"{queue} enqueue_many"] = admitting.together(tenth * BATCH)
        # Each work beside its twin, so that both have the machine as it is just then.
        return await alternating(redis, sizes.cost_runs, dict(sorted(works.items(), key=lambda it: it[0].split()[1])))


def _us(costs: Sequence[Cost]) -> list[float]:
    return [one.us for one in costs]
