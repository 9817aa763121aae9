"""Health is true: it follows the servers, the last claim, the last poll and the last posts."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisAway
from starlette.routing import Router

from bot.embedded import EmbeddedValkey
from bot.polling import PollingLease
from bot.pulse import Pulse
from bot.web import ground as ground_module
from bot.web import server as server_module
from bot.web.ground import Ground
from bot.web.health import Health
from bot.web.server import listening
from engine.store.database import Database, open_database
from engine.workers.crew import Crew, CrewSettings
from migrations.run import downgrade
from tests.bot.hall import QUICK, Hall
from tests.bot.making import said
from tests.bot.posting import porch
from tests.bot.stage import Stage
from tests.servers.redis import test_server as redis_server
from tests.waiting import wait_until
from tests.workers.making import Recorder, house

LIVE_MS = 1_500


@dataclass
class Doctor:
    """Asks a process how it is, over HTTP."""

    health: Health
    client: httpx.AsyncClient

    async def ask(self, question: str) -> tuple[int, dict[str, Any]]:
        answer = await self.client.get(f"/health/{question}")
        assert answer.headers["cache-control"] == "no-store"
        body: dict[str, Any] = answer.json()
        return answer.status_code, body

    async def until(self, question: str, status: int) -> dict[str, Any]:
        found: dict[str, Any] = {}

        async def answered() -> bool:
            nonlocal found
            code, found = await self.ask(question)
            assert found["ok"] is (code == 200) is (not found["failing"])
            return code == status

        await wait_until(answered, f"{question} answers {status}", 30_000, 50)
        return found


@asynccontextmanager
async def doctor(redis: Redis, database: Database, *, parts: int = 0, live_ms: int = LIVE_MS) -> AsyncIterator[Doctor]:
    ground = Ground(redis, database)
    health = Health(ground, parts, live_ms)
    stop = asyncio.Event()
    watching = asyncio.create_task(ground.run(stop))
    try:
        async with (
            listening("127.0.0.1:0", Router(health.routes())) as port,
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as client,
        ):
            yield Doctor(health, client)
    finally:
        stop.set()
        await asyncio.wait_for(watching, 20)


@contextmanager
def frozen(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.fixture
def own_valkey(tmp_path: Path) -> Iterator[EmbeddedValkey]:
    """A server that a test may freeze."""
    with redis_server(tmp_path / "valkey") as server:
        yield server


@pytest.fixture
async def database(ready_sqlite_url: str) -> AsyncIterator[Database]:
    async with await open_database(ready_sqlite_url) as opened:
        yield opened


@pytest.fixture(autouse=True)
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ground_module, "ASK_EVERY_S", 0.1)
    monkeypatch.setattr(ground_module, "ANSWER_MS", 1_000)
    monkeypatch.setattr(ground_module, "FRESH_MS", 50)


async def test_it_is_told_past_the_limit_of_connections(
    redis: Redis, ready_sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "MOST_CONNECTIONS", 3)
    async with await open_database(ready_sqlite_url) as database, doctor(redis, database) as asked:
        port = asked.client.base_url.port
        assert port is not None
        idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        assert (await asked.client.get("/telegram")).status_code == 503
        for question in ("live", "ready"):
            assert (await asked.ask(question))[0] == 200
        assert (await asked.client.get("/telegram")).status_code == 503, "on a connection that was asked for health"
        for _, writer in idle:
            writer.close()


async def test_a_worker_follows_its_redis(own_valkey: EmbeddedValkey, ready_sqlite_url: str) -> None:
    """Frozen, it is not ready at once and not alive in the end; thawed, it is both again."""
    stop = asyncio.Event()
    async with (
        Redis.from_url(own_valkey.url, socket_timeout=1) as redis,
        house(redis, ready_sqlite_url) as made,
        await open_database(ready_sqlite_url) as database,
        doctor(redis, database, parts=1) as worker,
    ):
        code, body = await worker.ask("ready")
        assert code == 503
        assert "start" in body["failing"]
        crew = Crew(made.world, made.queues, Recorder(), CrewSettings(park_ms=200, sweep_ms=100))
        worker.health.watch(crew.claim_ages_ms)
        working = asyncio.create_task(crew.run(stop))
        body = await worker.until("ready", 200)
        assert set(body["ages_ms"]) == {"redis", "database", "score", "settle", "speak"}
        assert await worker.until("live", 200)
        pid = own_valkey.pid
        assert pid is not None
        with frozen(pid):
            body = await worker.until("ready", 503)
            assert "redis" in body["failing"]
            assert "database" not in body["failing"]
            body = await worker.until("live", 503)
            assert {"redis", "score", "settle", "speak"} & set(body["failing"])
        await worker.until("ready", 200)
        await worker.until("live", 200)
        stop.set()
        await asyncio.wait_for(working, 20)


async def test_a_worker_that_has_not_claimed_yet_is_alive_and_not_ready(redis: Redis, database: Database) -> None:
    async with doctor(redis, database, parts=1) as worker:
        worker.health.watch(lambda: {"score": None})
        assert (await worker.ask("live"))[0] == 200
        assert await worker.until("ready", 503) == {
            "ok": False,
            "failing": ["score"],
            "ages_ms": {"redis": pytest.approx(0, abs=5_000), "database": pytest.approx(0, abs=5_000), "score": None},
        }


async def test_a_schema_that_is_not_this_program_s_is_not_ready(redis: Redis, database: Database) -> None:
    async with doctor(redis, database) as process:
        await process.until("ready", 200)
        await downgrade(database, "0001")
        body = await process.until("ready", 503)
        assert body["failing"] == ["database"]


async def test_a_bot_that_polls_is_alive_by_its_last_answered_poll(idle: Stage, database: Database) -> None:
    async def behave(_: str) -> None:
        pass

    pulse = Pulse()
    async with doctor(idle.house.redis, database, parts=1) as bot:
        bot.health.watch(lambda: {"poll": pulse.age_ms})
        assert (await bot.ask("ready"))[1]["failing"] == ["poll"]
        async with Hall(idle, behave).polling(pulse=pulse):
            idle.api.feed(said("a"))
            await bot.until("ready", 200)
            # No answer comes any more: the long poll has nothing to tell.
            assert (await bot.until("live", 503))["failing"] == ["poll"]
            idle.api.feed(said("b"))
            await bot.until("live", 200)


async def test_a_bot_that_stands_by_is_alive_and_ready(redis: Redis, database: Database) -> None:
    holder, pulse = PollingLease(redis), Pulse()
    await holder.acquire()
    standing_by = asyncio.create_task(PollingLease(redis, pulse=pulse).acquire())
    async with doctor(redis, database, parts=1) as bot:
        bot.health.watch(lambda: {"poll": pulse.age_ms})
        first = (await bot.until("ready", 200))["ages_ms"]["poll"]
        assert first < LIVE_MS
        assert not standing_by.done()
    await holder.release()
    standing_by.cancel()
    await asyncio.gather(standing_by, return_exceptions=True)


async def test_a_bot_whose_posts_keep_failing_is_not_alive_in_the_end(idle: Stage, database: Database) -> None:
    fault: Exception | None = RedisAway("refused")

    async def behave(_: str) -> None:
        if fault is not None:
            raise fault

    Hall(idle, behave).listen()
    async with doctor(idle.house.redis, database, parts=1) as bot, porch(idle, QUICK) as telegram:
        bot.health.watch(lambda: {"posts": telegram.taking.pulse.failing_ms})
        await bot.until("ready", 200)
        await telegram.post(said("a"))
        assert (await bot.until("live", 503))["failing"] == ["posts"]
        fault = None
        await telegram.post(said("a"))
        await bot.until("live", 200)


async def test_a_process_that_ends_is_ready_no_more_and_alive_to_the_end(redis: Redis, database: Database) -> None:
    async with doctor(redis, database) as process:
        await process.until("ready", 200)
        process.health.end()
        assert (await process.ask("ready"))[1]["failing"] == ["stop"]
        assert (await process.ask("live"))[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
async def test_health_is_only_to_be_read(redis: Redis, database: Database, method: str) -> None:
    async with doctor(redis, database) as process:
        answer = await process.client.request(method, "/health/live")
        assert answer.status_code == 405


async def test_many_questions_at_once_ask_the_servers_once(redis: Redis, database: Database) -> None:
    async with doctor(redis, database) as process:
        await process.until("ready", 200)
        before = int((await redis.info("commandstats"))["cmdstat_ping"]["calls"])
        answers = await asyncio.gather(*(process.ask("ready") for _ in range(50)))
        assert {code for code, _ in answers} == {200}
        after = int((await redis.info("commandstats"))["cmdstat_ping"]["calls"])
        assert after - before < 25
