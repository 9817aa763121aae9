"""What a call costs the server: its own microseconds and commands, by its own count.

Wall clocks are noisy where machines are shared; the server's time for a script has neither client nor network in it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from redis.asyncio import Redis

_SCRIPTS: Final = frozenset(["eval", "evalsha"])
_OURS: Final = frozenset(["info", "config|resetstat", "hello", "client|setinfo", "client|setname", "select"])

Work = Callable[[], Awaitable[int]]
"""Does something, and answers how many units of it."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a unit of work cost the server.

    Args:
        us: microseconds in scripts.
        commands: commands inside of them.
    """

    us: float
    commands: float


async def cost(redis: Redis, work: Work) -> Cost:
    """Measure one run of ``work``; nobody else may use the server meanwhile."""
    await redis.config_resetstat()
    units = await work()
    stats: Mapping[str, Mapping[str, Any]] = await redis.info("commandstats")
    named = {name.removeprefix("cmdstat_"): stat for name, stat in stats.items()}
    us = sum(float(named[name]["usec"]) for name in _SCRIPTS if name in named)
    commands = sum(int(stat["calls"]) for name, stat in named.items() if name not in _SCRIPTS | _OURS)
    return Cost(us / units, commands / units)


async def alternating(redis: Redis, runs: int, works: Mapping[str, Work]) -> dict[str, list[Cost]]:
    """Measure all of ``works`` in turn, ``runs`` times, after one run of each that warms up and isn't counted."""
    costs: dict[str, list[Cost]] = {name: [] for name in works}
    for work in works.values():
        await work()
    for _ in range(runs):
        for name, work in works.items():
            costs[name].append(await cost(redis, work))
    return costs
