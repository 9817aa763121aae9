"""I8: a host whose clock is wrong decides nothing: not a lease, not a delay, not an order, not an age, not an ETA."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from engine.lanes import Lanes
from tests.lanes.naming import A, new_job
from tests.lanes.steps import server_ms

ROOT = Path(__file__).parents[2]
DAY_S = 86_400
HOUR_MS = 3_600_000
TOLERANCE_MS = 30_000
"""Far more than starting a process takes, and far less than any clock here is wrong by."""

PRODUCER = """
import asyncio, datetime, json, sys, time
shift_s, url, group, job_id, late_id, refused_id = float(sys.argv[1]), *sys.argv[2:]
wrong = {name: getattr(time, name) for name in ("time", "time_ns", "monotonic", "monotonic_ns")}
time.time = lambda: wrong["time"]() + shift_s
time.time_ns = lambda: wrong["time_ns"]() + int(shift_s * 1e9)
# A host's monotonic clock may begin anywhere, but goes at the same pace.
time.monotonic = lambda: wrong["monotonic"]() + abs(shift_s)
time.monotonic_ns = lambda: wrong["monotonic_ns"]() + int(abs(shift_s) * 1e9)

class WrongDate(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(time.time(), tz)

datetime.datetime = WrongDate

from redis.asyncio import Redis
from engine.lanes import Lanes, QueueFull

async def main():
    async with Redis.from_url(url) as redis:
        lanes = Lanes(redis, "cm")
        await lanes.enqueue(group, job_id, b"", dedup="message", dedup_ms=3_600_000)
        await lanes.enqueue(group, late_id, b"", delay_ms=3_600_000)
        await lanes.hold(group, None)
        (job,) = await lanes.claim(1, lease_ms=3_600_000)
        assert await lanes.extend([job], 3_600_000) == ["ok"]
        assert await lanes.reap() == 0 and await lanes.promote() == 0
        await lanes.cap(group, 1)
        try:
            await lanes.enqueue(group, refused_id, b"")
        except QueueFull as full:
            eta_ms = full.eta_ms
        await lanes.cap(group)
        record = await lanes.job(late_id)
        print(json.dumps([job.seq, job.token, job.enqueued_ms, job.lease_until_ms, record.at_ms, eta_ms, time.time()]))

asyncio.run(main())
"""


async def produced(shift_s: float, redis_url: str) -> list[Any]:
    """What a producer and worker tells whose host's clock is ``shift_s`` off."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PRODUCER, str(shift_s), redis_url, A, new_job(), new_job(), new_job()),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    told, _ = await process.communicate()
    assert process.returncode == 0
    answer: list[Any] = json.loads(told)
    return answer


@pytest.mark.case("L20")
@pytest.mark.parametrize("year", ["1970", "a day ahead", "a day behind"])
async def test_a_host_with_a_wrong_clock_moves_nothing(redis: Redis, redis_url: str, lanes: Lanes, year: str) -> None:
    now_ms = await server_ms(redis)
    shift_s = {"1970": -now_ms / 1000, "a day ahead": DAY_S, "a day behind": -DAY_S}[year]
    await lanes.enqueue(A, new_job(), b"")
    (before,) = await lanes.claim()
    await lanes.complete([before])
    seq, token, enqueued_ms, lease_until_ms, due_ms, eta_ms, their_time_s = await produced(shift_s, redis_url)
    assert abs(their_time_s * 1000 - now_ms) > DAY_S * 1000 / 2, "the producer's clock is wrong indeed"
    await lanes.enqueue(A, new_job(), b"")
    (after,) = await lanes.claim()
    assert before.seq < seq < after.seq
    assert before.token < token < after.token
    assert before.enqueued_ms <= enqueued_ms <= after.enqueued_ms
    assert now_ms + HOUR_MS <= lease_until_ms <= now_ms + HOUR_MS + TOLERANCE_MS
    assert now_ms + HOUR_MS <= due_ms <= now_ms + HOUR_MS + TOLERANCE_MS
    assert 0 < eta_ms <= TOLERANCE_MS
    assert 0 < await redis.pttl("emq:{cm}:d:message") <= HOUR_MS
    stats = await lanes.stats()
    assert (stats.leased, stats.scheduled, stats.starvation_ms) == (2, 1, 0)
