"""``python -m tests.soak.actor ROLE URL SEED NUMBER``: one process of a soak; it may be killed at any line."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
from collections.abc import Awaitable, Callable
from typing import Final

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from engine.lanes import Lanes
from tests.soak.claiming import Claimer
from tests.soak.ground import ACTOR, END, PHASE, QUEUE, RESTING, WORK
from tests.soak.ledger import Ledger
from tests.soak.levers import Levers
from tests.soak.producing import Producer

Round = Callable[[], Awaitable[None]]
SIDE_BY_SIDE: Final = {"claimer": 8, "producer": 4, "levers": 1}


def rounds(role: str, redis: Redis, seed: str, number: int) -> list[Round]:
    """What the process does side by side, again and again."""
    ledger, found = Ledger(redis), list[Round]()
    for line in range(SIDE_BY_SIDE[role]):
        lanes = Lanes(redis, QUEUE)
        chance = random.Random(f"{seed} {line}")  # noqa: S311 - no secret
        if role == "claimer":
            found.append(Claimer(lanes, ledger, chance).round)
        elif role == "producer":
            found.append(Producer(lanes, ledger, chance, number * 100 + line).round)
        else:
            found.append(Levers(lanes, redis, ledger, chance).round)
    return found


async def work(redis: Redis, name: str, rounds: list[Round]) -> None:
    """Work until the end, and rest when all do."""

    async def line(do: Round) -> None:
        over = False
        while not over:
            with contextlib.suppress(RedisConnectionError, RedisTimeoutError):  # somebody cuts connections
                phase = await redis.get(PHASE)
                over = phase == END
                if phase == WORK:
                    resting.discard(do)
                    await do()
                else:
                    resting.add(do)
                    if len(resting) == len(rounds):
                        await redis.sadd(RESTING, name)
                    await asyncio.sleep(0.05)

    resting: set[Round] = set()
    await asyncio.gather(*map(line, rounds))


async def main(role: str, url: str, seed: str, number: int) -> None:
    async with Redis.from_url(url, client_name=ACTOR, retry=Retry(NoBackoff(), 0)) as redis:
        await work(redis, f"{role} {number}", rounds(role, redis, seed, number))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
