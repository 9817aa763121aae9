"""What each way of syncing the append-only file keeps, when the server is killed without a warning."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from bot.embedded import EmbeddedValkey, Fsync
from bot.redis_server import open_redis
from engine.lanes import Lanes
from tests.lanes.naming import A, new_job, room
from tests.servers.filling import full_disk, unkilled_binary
from tests.servers.stalling import stalled
from tests.waiting import wait_until

PRODUCERS = 50
KILLS = 3


def kill(server: EmbeddedValkey) -> None:
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)


@asynccontextmanager
async def running(server: EmbeddedValkey) -> AsyncIterator[tuple[Redis, Lanes]]:
    with server:
        async with open_redis(server.url) as redis:
            yield redis, Lanes(redis, "cm")


async def missing(lanes: Lanes, jobs: list[str]) -> list[str]:
    records = await asyncio.gather(*map(lanes.job, jobs))
    return [job for job, record in zip(jobs, records, strict=True) if record is None]


async def produce(lanes: Lanes, number: int, answered: list[str]) -> None:
    while True:
        job = new_job()
        try:
            await lanes.enqueue(room(number), job, b"x" * 100)
        except (RedisError, OSError):
            return
        answered.append(job)


def has_more(answered: list[str], count: int) -> bool:
    return len(answered) >= count


@pytest.mark.parametrize("fsync", ["always", "no"])
async def test_a_server_that_is_killed_under_load_has_every_admission_it_answered(tmp_path: Path, fsync: Fsync) -> None:
    """With ``everysec`` too, but only as long as no sync is slow, which no test can promise: see below."""
    server = EmbeddedValkey(tmp_path, fsync=fsync)
    answered: list[str] = []
    for _ in range(KILLS):
        async with running(server) as (_, lanes):
            assert await missing(lanes, answered) == []
            before = len(answered)
            producers = [asyncio.create_task(produce(lanes, number, answered)) for number in range(PRODUCERS)]
            await wait_until(partial(has_more, answered, before + 1_000), "the load is on", timeout_ms=60_000)
            kill(server)
            await asyncio.gather(*producers)
    async with running(server) as (_, lanes):
        assert await missing(lanes, answered) == []
        assert (await lanes.audit()).clean


@pytest.mark.parametrize(("fsync", "keeps"), [("always", True), ("everysec", False), ("no", True)])
async def test_a_sync_that_hangs_makes_everysec_answer_before_it_writes(
    tmp_path: Path, fsync: Fsync, *, keeps: bool
) -> None:
    """Why the product's is ``always``: with ``everysec`` a kill of the server alone loses what was answered."""
    server = EmbeddedValkey(tmp_path, fsync=fsync)
    async with running(server) as (redis, lanes):
        assert server.pid is not None

        async def is_syncing() -> bool:
            await lanes.enqueue(A, new_job(), b"")
            return int((await redis.info("persistence"))["aof_pending_bio_fsync"]) > 0

        with stalled(server.pid, "bio_aof"):
            if fsync == "everysec":
                await wait_until(is_syncing, "a sync is under way", timeout_ms=60_000)
            answered = [new_job() for _ in range(20)]
            for job in answered:
                await lanes.enqueue(A, job, b"")
            kill(server)
    async with running(server) as (_, lanes):
        assert (await missing(lanes, answered) == []) is keeps


async def test_a_full_disk_ends_our_server_which_has_all_it_answered_once_there_is_room(tmp_path: Path) -> None:
    """With ``always`` it answers nothing that it could not write, and ends instead."""
    server = EmbeddedValkey(tmp_path / "data", binary=unkilled_binary(tmp_path))
    answered: list[str] = []
    async with running(server) as (_, lanes):
        producers = [asyncio.create_task(produce(lanes, number, answered)) for number in range(PRODUCERS)]
        await wait_until(partial(has_more, answered, 500), "the load is on", timeout_ms=60_000)
        with full_disk(server):
            await wait_until(lambda: server.pid is None, "the server has ended", timeout_ms=60_000)
        await asyncio.gather(*producers)
    async with running(server) as (_, lanes):
        assert await missing(lanes, answered) == []
