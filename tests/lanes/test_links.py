"""Broken links: a worker that was parked on one claims again soon; liveness is the last claim that worked."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from bot.embedded import EmbeddedValkey
from engine.lanes import Job, Lanes, Shift, Worker, transport
from tests.lanes.naming import A, new_job
from tests.lanes.proxy import Proxy
from tests.lanes.sizes import FULL
from tests.servers.redis import test_server as redis_server
from tests.waiting import wait_until

BLOCK_MS, GRACE_MS, ANSWER_S = (transport.BLOCK_MS, transport.GRACE_MS, 5.0) if FULL else (400, 200, 0.4)
"""A parked worker's block, what a silent server is given more, and how long an answer may take."""
SOON_S = BLOCK_MS / 1000 + 5


@dataclass(frozen=True, slots=True)
class Ground:
    """A server, the way to it, and a client that does not go that way."""

    server: EmbeddedValkey
    proxy: Proxy
    admin: Redis


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedValkey]:
    """A server that may be stopped."""
    with redis_server(tmp_path_factory.mktemp("links")) as running:
        yield running


@pytest.fixture(autouse=True)
def _invariants_hold_at_the_end() -> None:
    """The oracle looks at another server."""


@pytest.fixture(autouse=True)
def _short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "BLOCK_MS", BLOCK_MS)
    monkeypatch.setattr(transport, "GRACE_MS", GRACE_MS)


@pytest.fixture
async def ground(server: EmbeddedValkey) -> AsyncIterator[Ground]:
    async with Redis.from_url(server.url) as admin, Proxy(server.socket_path) as proxy:
        await admin.flushall()
        yield Ground(server, proxy, admin)


async def reset(ground: Ground) -> None:
    ground.proxy.reset()


async def silence(ground: Ground) -> None:
    ground.proxy.silence()


async def hang_up(ground: Ground) -> None:
    ground.proxy.hang_up()


async def deafen(ground: Ground) -> None:
    ground.proxy.deafen()


async def refuse(ground: Ground) -> None:
    """Nobody listens for longer than a block takes."""
    ground.proxy.refuse()
    await longer_than_a_block()
    await ground.proxy.listen()


async def darken(ground: Ground) -> None:
    """Nothing passes, over old or new connections, for longer than a block takes."""
    ground.proxy.darken(dark=True)
    await longer_than_a_block()
    ground.proxy.darken(dark=False)


async def pause_clients(ground: Ground) -> None:
    """Let the server answer nobody for longer than a block takes, and return when it does again."""
    await ground.admin.client_pause(BLOCK_MS + GRACE_MS + 300)
    await ground.admin.ping()


async def kill(ground: Ground) -> None:
    await ground.admin.client_kill_filter(_type="normal", skipme=True)


async def unblock(ground: Ground) -> None:
    for client in await ground.admin.client_list():
        if client["cmd"] == "blpop":
            await ground.admin.client_unblock(int(client["id"]))


async def unblock_with_an_error(ground: Ground) -> None:
    for client in await ground.admin.client_list():
        if client["cmd"] == "blpop":
            await ground.admin.client_unblock(int(client["id"]), error=True)


async def stop(ground: Ground) -> None:
    """Stop the server for longer than a block takes."""
    pid = ground.server.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        await longer_than_a_block()
    finally:
        os.kill(pid, signal.SIGCONT)


async def longer_than_a_block() -> None:
    began = time.monotonic()
    over_s = (BLOCK_MS + GRACE_MS) / 1000 + 0.3
    await wait_until(lambda: time.monotonic() - began > over_s, "a block is over and more", timeout_ms=20_000)


BREAKS: dict[str, Callable[[Ground], Awaitable[None]]] = {
    "reset": reset,
    "silence": silence,
    "closed": hang_up,
    "answers lost": deafen,
    "nobody listens": refuse,
    "darkness": darken,
    "killed": kill,
    "unblocked": unblock,
    "unblocked with an error": unblock_with_an_error,
    "stopped server": stop,
    "paused clients": pause_clients,
}


@asynccontextmanager
async def worker_at(ground: Ground, ran: list[str]) -> AsyncIterator[Worker]:
    """Let a worker work over the proxy, and yield it once it is parked."""
    stop_it = asyncio.Event()

    async def handle(jobs: list[Job]) -> None:
        ran.extend(job.id for job in jobs)

    client = Redis(
        host="127.0.0.1",
        port=ground.proxy.port,
        socket_timeout=ANSWER_S,
        socket_connect_timeout=ANSWER_S,
        retry=Retry(NoBackoff(), 0),
    )
    async with client:
        worker = Worker(Lanes(client, "cm"), handle, Shift(together=True, grace_ms=1_000))
        working = asyncio.create_task(worker.run(stop_it))
        try:
            await wait_until(lambda: parked(ground.admin), "the worker is parked")
            yield worker
        finally:
            stop_it.set()
            await asyncio.wait_for(working, 30)


async def parked(admin: Redis) -> bool:
    return any(client["cmd"] == "blpop" for client in await admin.client_list())


@pytest.mark.case("L23")
@pytest.mark.parametrize("what", BREAKS)
async def test_a_parked_worker_whose_link_breaks_claims_again(ground: Ground, what: str) -> None:
    ran: list[str] = []
    async with worker_at(ground, ran) as worker:
        producer, before_ms = Lanes(ground.admin, "cm"), worker.last_claim_monotonic_ms
        assert before_ms is not None
        await BREAKS[what](ground)
        broken = time.monotonic()
        first = new_job()
        await producer.enqueue(A, first, b"")
        await wait_until(lambda: first in ran, "the worker serves again", timeout_ms=30_000)
        assert time.monotonic() - broken < SOON_S
        assert worker.last_claim_monotonic_ms is not None
        assert worker.last_claim_monotonic_ms > before_ms
        second = new_job()
        await producer.enqueue(A, second, b"")
        await wait_until(lambda: second in ran, "and goes on serving", timeout_ms=int(SOON_S * 1000))
        assert await producer.oldest(A) is None or await wait_until(lambda: done(producer), "both are done")


async def done(lanes: Lanes) -> bool:
    return await lanes.oldest(A) is None


@pytest.mark.case("L23")
async def test_a_worker_that_cannot_claim_does_not_look_alive(ground: Ground) -> None:
    """The server answers a PING all the time, and refuses every claim."""
    async with worker_at(ground, []) as worker:
        await ground.admin.hset("emq:{cm}:ring", "not", "a list")
        await ground.admin.lpush("emq:{cm}:wake", "1")
        stood = worker.last_claim_monotonic_ms
        seen = time.monotonic()
        await wait_until(lambda: time.monotonic() - seen > 0.5, "a while went by")
        assert worker.last_claim_monotonic_ms == stood
        assert await ground.admin.ping()
        await ground.admin.delete("emq:{cm}:ring")
        await wait_until(lambda: worker.last_claim_monotonic_ms != stood, "it claims again", timeout_ms=15_000)
