"""Servers and databases for every test.

One Valkey and one PostgreSQL live as long as the session (each xdist worker has its own); a test gets them empty:

* ``redis``: a client as the program uses it; ``redis_url``: the same server, for what connects by itself
* ``postgres_url`` and ``sqlite_url``: a new empty database; ``database_url``: the test runs on each of the two
* ``ready_database_url``: like ``database_url``, with the newest schema in it
* ``valkey`` and ``postgres``: the servers themselves
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import cast

import pytest
import structlog
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from bot.embedded import EmbeddedValkey
from bot.embedded_postgres import PostgresServer
from engine.store.database import open_database
from migrations.run import upgrade
from tests.servers.redis import test_server as redis_server


@pytest.fixture(autouse=True)
def logs_as_they_were() -> Iterator[None]:
    """Whatever a test sets up for logs ends with it.

    Also ``capture_logs``: it leaves structlog configured (by its own defaults), and the program then takes the logs
    for its own.
    """
    yield
    structlog.reset_defaults()


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedValkey]:
    with redis_server(tmp_path_factory.mktemp("valkey")) as server:
        yield server


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


@pytest.fixture
async def redis_url(valkey: EmbeddedValkey) -> str:
    """An empty server."""
    async with Redis.from_url(valkey.url) as client:
        await client.flushall()
    return valkey.url


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    """A client that answers bytes and never sends a command twice by itself."""
    async with Redis.from_url(redis_url, decode_responses=False, retry=Retry(NoBackoff(), 0)) as client:
        yield client


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> Iterator[str]:
    name = postgres.create()
    yield postgres.url(name)
    postgres.drop(name)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite+aiosqlite:///{tmp_path / 'codemojex.sqlite'}"


@pytest.fixture(scope="session")
def migrated_postgres(postgres: PostgresServer) -> str:
    """A database with the newest schema, to be copied."""
    name = postgres.create(name="migrated")
    asyncio.run(_migrate(postgres.url(name)))
    return name


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the newest schema, to be copied."""
    path = tmp_path_factory.mktemp("migrated") / "codemojex.sqlite"
    asyncio.run(_migrate(f"sqlite+aiosqlite:///{path}"))
    return path


@pytest.fixture(params=["sqlite", "postgres"])
def ready_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database of the test's own with the newest schema, on each of the two; no migration runs for it."""
    if request.param == "sqlite":
        copy = tmp_path / "ready.sqlite"
        shutil.copyfile(request.getfixturevalue("migrated_sqlite"), copy)
        yield f"sqlite+aiosqlite:///{copy}"
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    name = server.create(template=request.getfixturevalue("migrated_postgres"))
    yield server.url(name)
    server.drop(name)


async def _migrate(url: str) -> None:
    async with await open_database(url) as database:
        await upgrade(database)


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    return cast("str", request.getfixturevalue(f"{request.param}_url"))
