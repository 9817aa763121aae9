"""Claims with some tasks at once until nothing is left, and says which jobs it did.

``python -m benchmarks.sides.claim_together URL CLAIMERS``
"""

from __future__ import annotations

import asyncio
import sys

import uvloop

from benchmarks.process import say
from bot.redis_server import open_redis
from engine.lanes import Lanes, Verdict


async def main(url: str, claimers: int) -> None:
    async with open_redis(url) as redis:
        lanes = Lanes(redis, "bench")
        done = await asyncio.gather(*(_claim(lanes, 1 + number % 8) for number in range(claimers)))
        say(done=[job for its in done for job in its])


async def _claim(lanes: Lanes, batch: int) -> list[str]:
    done = []
    while claimed := await lanes.claim(batch):
        verdicts = await lanes.complete(claimed)
        done += [job.id for job, verdict in zip(claimed, verdicts, strict=True) if verdict is Verdict.ok]
    return done


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], int(sys.argv[2])))
