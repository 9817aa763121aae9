"""What a claim costs the server beside how many other groups, waiting or at their ceilings."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Final

from benchmarks.bare import set_levers
from benchmarks.figure import Figure, of_runs, times_at_most
from benchmarks.loads import fill, groups, jobs
from benchmarks.peers import Peers
from benchmarks.server import valkey
from benchmarks.server_time import Cost, Work, alternating
from benchmarks.sizes import Sizes
from benchmarks.works import Claiming
from bot.redis_server import open_redis
from engine.lanes import Lanes

BATCH: Final = 32
FEW: Final = 10
_CEILING: Final = 1_000_000
_CLAIM_AT_ONCE: Final = 1_000
_LEASE_MS: Final = 3_600_000


def measure(sizes: Sizes, _: Peers) -> Iterator[Figure]:
    with valkey() as url:
        costs = asyncio.run(_costs(url, sizes))
    for queue, what in (
        ("many", f"at {sizes.many_groups:,} groups; against at {FEW}"),
        ("blocked", f"beside {sizes.blocked_groups:,} groups at their ceilings; against beside none"),
    ):
        for work, name, times in (("1", "claim(1)", 1.3), (str(BATCH), f"a job of claim({BATCH})", 1.4)):
            yield of_runs(
                f"server time of {name} {what}",
                "us",
                [one.us for one in costs[f"{queue} {work}"]],
                against=[one.us for one in costs[f"few {work}"]],
                bound=times_at_most(times),
            )
        yield of_runs(
            f"commands of a claim(1) and a claim({BATCH}) {what}",
            "commands",
            _commands(costs, queue),
            against=_commands(costs, "few"),
            bound=times_at_most(1),
        )


def _commands(costs: dict[str, list[Cost]], queue: str) -> list[float]:
    """Whole commands: what the server does once in some hundred jobs falls into one run or another."""
    return [
        round(one.commands) + round(BATCH * many.commands)
        for one, many in zip(costs[f"{queue} 1"], costs[f"{queue} {BATCH}"], strict=True)
    ]


async def _costs(url: str, sizes: Sizes) -> dict[str, list[Cost]]:
    few, tenth = groups(FEW), max(1, sizes.costed_calls // 10)
    # Each visit finds a group that keeps a job, whatever the number of groups: so the work is the same.
    needed = (sizes.costed_calls + tenth * BATCH) * (sizes.cost_runs + 1) + FEW
    async with open_redis(url) as redis:
        works: dict[str, Work] = {}
        for queue in ("few", "many", "blocked"):
            lanes = Lanes(redis, queue)
            if queue == "blocked":
                set_levers(url, queue, groups(sizes.blocked_groups, first=FEW), ceiling=1)
                await _block(lanes, sizes.blocked_groups)
            if queue == "many":
                await fill(lanes, jobs(sizes.many_groups, sizes.many_groups))
                await fill(lanes, jobs(needed, sizes.many_groups, first=sizes.many_groups))
                set_levers(url, queue, groups(sizes.many_groups), ceiling=_CEILING)
            else:
                await fill(lanes, jobs(needed + FEW * 2, FEW, first=2 * sizes.blocked_groups))
                set_levers(url, queue, few, ceiling=_CEILING)
            works[f"{queue} 1"] = Claiming(lanes, sizes.costed_calls, 1).claim
            works[f"{queue} {BATCH}"] = Claiming(lanes, tenth, BATCH).claim
        return await alternating(redis, sizes.cost_runs, works)


async def _block(lanes: Lanes, count: int) -> None:
    """Bring so many groups to their ceilings of one, each with a job that waits."""
    await fill(lanes, jobs(2 * count, count, first_group=FEW))
    while await lanes.claim(_CLAIM_AT_ONCE, _LEASE_MS):
        pass
