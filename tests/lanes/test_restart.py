"""What Redis forgets, it is told again: scripts after a flush, jobs after a crash."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from bot.embedded import EmbeddedValkey
from engine.lanes import Lanes, Verdict
from tests.lanes.naming import A, new_job, room
from tests.lanes.oracle import Oracle
from tests.lanes.steps import fill
from tests.waiting import wait_until


class Load:
    """Producers and workers on one queue; every step is tried again until the server has answered it."""

    def __init__(self, lanes: Lanes, jobs: int) -> None:
        self._lanes = lanes
        self._jobs = jobs
        self.admitted: list[str] = []
        self.ran: set[str] = set()
        self.completed: Counter[str] = Counter()
        self._over = False

    async def run(self) -> None:
        workers = [asyncio.create_task(self._work()) for _ in range(4)]
        await self._produce()
        await wait_until(self._empty, "everything is served", timeout_ms=20_000, poll_ms=20)
        self._over = True
        await asyncio.gather(*workers)

    def has_admitted(self, count: int) -> bool:
        return len(self.admitted) >= count

    async def _produce(self) -> None:
        for number in range(self._jobs):
            job_id = new_job()
            while True:
                with contextlib.suppress(RedisConnectionError, RedisTimeoutError):
                    await self._lanes.enqueue(room(number % 5), job_id, b"", dedup=job_id)
                    break
                await asyncio.sleep(0.005)
            self.admitted.append(job_id)

    async def _empty(self) -> bool:
        with contextlib.suppress(RedisConnectionError, RedisTimeoutError):
            return all([await self._lanes.oldest(room(number)) is None for number in range(5)])
        return False

    async def _work(self) -> None:
        while not self._over:
            try:
                jobs = await self._lanes.claim(3, lease_ms=200)
                self.ran.update(job.id for job in jobs)
                for job, verdict in zip(jobs, await self._lanes.complete(jobs), strict=True):
                    if verdict is Verdict.ok:
                        self.completed[job.id] += 1
                if not jobs:
                    await self._lanes.wait(50)
            except (RedisConnectionError, RedisTimeoutError):
                await asyncio.sleep(0.005)


@pytest.mark.case("L22")
async def test_every_verb_survives_a_script_flush(lanes: Lanes, redis: Redis) -> None:
    await redis.script_flush()
    await fill(lanes, A, 3)
    await redis.script_flush()
    first, second = await lanes.claim(2)
    await redis.script_flush()
    assert await lanes.extend([first], 60_000) == [Verdict.ok]
    await redis.script_flush()
    assert await lanes.release([second]) == [Verdict.ok]
    await redis.script_flush()
    assert await lanes.retry(first, "broken", delay_ms=0) is Verdict.ok
    await redis.script_flush()
    jobs = await lanes.claim_group(9)
    assert len(jobs) == 3
    await redis.script_flush()
    assert await lanes.complete(jobs) == [Verdict.ok] * 3
    for verb in (lanes.pause, lanes.resume, lanes.depth, lanes.oldest):
        await redis.script_flush()
        await verb(A)
    await redis.script_flush()
    await lanes.limit(A, None)
    await redis.script_flush()
    assert (await lanes.reap(1), await lanes.promote(1)) == (0, 0)
    await redis.script_flush()
    await lanes.wait(1)


@pytest.mark.case("L22")
async def test_flushing_scripts_under_load_loses_nothing(lanes: Lanes, redis: Redis) -> None:
    load = Load(lanes, 100)
    running = asyncio.create_task(load.run())
    while not running.done():
        await redis.script_flush()
        await asyncio.wait([running], timeout=0.003)
    await running
    assert load.completed == Counter(load.admitted)


@pytest.mark.case("L22")
async def test_a_crash_under_load_loses_nothing_admitted_and_completes_nothing_twice(tmp_path: Path) -> None:
    path = tmp_path / "socket"  # one name for whichever server runs

    def restart() -> None:
        server.stop()
        server.start()
        path.unlink(missing_ok=True)
        path.symlink_to(server.socket_path)

    server = EmbeddedValkey(tmp_path / "data")
    restart()
    try:
        async with Redis(unix_socket_path=str(path), retry=Retry(NoBackoff(), 0)) as client:
            load = Load(Lanes(client, "cm", max_attempts=None), 200)
            running = asyncio.create_task(load.run())
            for admitted in (40, 120):
                await wait_until(partial(load.has_admitted, admitted), "the load is on")
                assert server.pid is not None
                os.kill(server.pid, signal.SIGKILL)
                restart()
            await asyncio.wait_for(running, 30)
            oracle = Oracle(server.url)
            await oracle.check()
            assert (await oracle.look()).groups == set()
            await oracle.close()
    finally:
        server.stop()
    assert load.ran == set(load.admitted)
    assert max(load.completed.values()) == 1


async def test_a_server_that_is_not_there_is_an_error_at_once(tmp_path: Path) -> None:
    async with Redis(unix_socket_path=str(tmp_path / "none"), retry=Retry(NoBackoff(), 0)) as client:
        with pytest.raises(RedisError):
            await Lanes(client, "cm").enqueue(A, new_job(), b"")
