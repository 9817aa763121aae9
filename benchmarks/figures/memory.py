"""What a waiting job takes of the server's memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from redis.asyncio import Redis

from benchmarks.figure import Figure, at_most, of_runs
from benchmarks.loads import PAYLOAD, fill, in_lanes
from benchmarks.peers import Peers
from benchmarks.server import valkey
from benchmarks.sizes import Sizes
from bot.redis_server import open_redis
from engine.lanes import Lanes


def measure(sizes: Sizes, _: Peers) -> Iterator[Figure]:
    for a_lane, limit in ((100, 240), (sizes.lane, 350)):
        with valkey() as url:
            taken = asyncio.run(_bytes_a_job(url, sizes.remembered, a_lane))
        yield of_runs(
            f"memory of a waiting job with a payload of {len(PAYLOAD)} bytes, {a_lane:,} jobs a lane",
            "bytes",
            [taken],
            bound=at_most(limit),
        )


async def _bytes_a_job(url: str, count: int, a_lane: int) -> float:
    async with open_redis(url) as redis:
        lanes = Lanes(redis, "bench")
        # What is there once, whatever the jobs: connections, scripts, the buffers of a first large call.
        await fill(Lanes(redis, "warm"), in_lanes(1_000, 100))
        before = await _used(redis)
        await fill(lanes, in_lanes(count, a_lane))
        return (await _used(redis) - before) / count


async def _used(redis: Redis) -> int:
    told = await redis.info("memory")
    return int(told["used_memory"]) - int(told["mem_clients_normal"])  # the buffers of a connection are no job's
