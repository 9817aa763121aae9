"""Servers and databases for every test.

One Valkey and one PostgreSQL live as long as the session (each xdist worker has its own); a test gets them empty:

* ``redis``: a client as the program uses it; ``redis_url``: the same server, for what connects by itself
* ``postgres_url`` and ``sqlite_url``: a new empty database; ``database_url``: the test runs on each of the two
* ``valkey`` and ``postgres``: the servers themselves
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import cast

import pytest
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from bot.embedded import EmbeddedValkey
from tests.servers.postgres import PostgresServer
from tests.servers.redis import test_server as redis_server


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


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    return cast("str", request.getfixturevalue(f"{request.param}_url"))
