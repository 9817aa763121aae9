"""Admissions that are answered only once replicas have them."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from redis.asyncio import Redis

from bot.embedded import EmbeddedValkey
from bot.redis_server import open_redis
from engine.lanes import Admission, BadArgument, Lanes, NotReplicated, Submission
from tests.lanes.naming import A, new_job
from tests.waiting import wait_until

_SOON_MS = 50


@dataclass(frozen=True)
class Pair:
    """A primary and its client, and the server that follows it."""

    redis: Redis
    primary: EmbeddedValkey
    replica: EmbeddedValkey

    @contextmanager
    def silent_replica(self) -> Iterator[None]:
        pid = self.replica.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    async def waiting_there(self) -> int:
        async with Redis.from_url(self.replica.url) as follower:
            return int(await follower.hget("emq:{cm}:gdepth", A) or 0)


@pytest.fixture
async def pair(tmp_path: Path) -> AsyncIterator[Pair]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    listening = {"port": port, "bind": "127.0.0.1", "repl-diskless-sync-delay": "0"}
    following = {"replicaof": f"127.0.0.1 {port}"}
    with (
        EmbeddedValkey(tmp_path / "primary", fsync="everysec", options=listening) as primary,
        EmbeddedValkey(tmp_path / "replica", fsync="everysec", options=following) as replica,
    ):
        async with open_redis(primary.url) as redis:
            await wait_until(lambda: _followed(redis), "the replica follows", timeout_ms=30_000)
            yield Pair(redis, primary, replica)


async def _followed(redis: Redis) -> bool:
    told = await redis.info("replication")
    return bool(told["connected_slaves"] == 1 and told["slave0"]["state"] == "online")


async def test_what_was_admitted_stands_on_the_replica(pair: Pair) -> None:
    lanes = Lanes(pair.redis, "cm", replicas=1, replicas_ms=60_000)
    assert await lanes.enqueue(A, new_job(), b"") is Admission.enqueued
    assert await pair.waiting_there() == 1
    verdicts = await lanes.enqueue_many([Submission(A, new_job(), b"") for _ in range(1_500)])
    assert set(verdicts) == {Admission.enqueued}
    assert await pair.waiting_there() == 1_501


async def test_an_admission_that_no_replica_has_is_an_error_and_so_is_its_duplicate(pair: Pair) -> None:
    lanes, job_id = Lanes(pair.redis, "cm", replicas=1, replicas_ms=_SOON_MS), new_job()
    with pair.silent_replica():
        with pytest.raises(NotReplicated, match="0 of 1 replicas"):
            await lanes.enqueue(A, job_id, b"", dedup="message 1")
        with pytest.raises(NotReplicated):
            await lanes.enqueue(A, job_id, b"", dedup="message 1")
        with pytest.raises(NotReplicated):
            await lanes.enqueue(A, new_job(), b"", dedup="message 1")
        async with open_redis(pair.primary.url) as other:  # a connection that has written nothing
            with pytest.raises(NotReplicated):
                await Lanes(other, "cm", replicas=1, replicas_ms=_SOON_MS).enqueue(A, job_id, b"", dedup="message 1")
    await wait_until(lambda: _admitted_again(lanes, job_id), "the replica has it", timeout_ms=30_000)
    assert await pair.waiting_there() == 1
    assert await lanes.depth(A) == 1


async def _admitted_again(lanes: Lanes, job_id: str) -> bool:
    try:
        return await lanes.enqueue(A, job_id, b"", dedup="message 1") is Admission.duplicate
    except NotReplicated:
        return False


async def test_more_replicas_than_there_are_is_an_error_that_says_so(pair: Pair) -> None:
    lanes = Lanes(pair.redis, "cm", replicas=2, replicas_ms=3_000)
    with pytest.raises(NotReplicated, match="1 of 2 replicas"):
        await lanes.enqueue(A, new_job(), b"")


@pytest.mark.parametrize(("replicas", "replicas_ms"), [(-1, 1), (101, 1), (1, 0)])
async def test_absurd_numbers_of_replicas_are_refused(redis: Redis, replicas: int, replicas_ms: int) -> None:
    with pytest.raises(BadArgument):
        Lanes(redis, "cm", replicas=replicas, replicas_ms=replicas_ms)
