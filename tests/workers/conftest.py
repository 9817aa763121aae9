"""A whole product per test, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from tests.workers.making import House, house


@pytest.fixture
async def product(redis: Redis, ready_database_url: str) -> AsyncIterator[House]:
    async with house(redis, ready_database_url) as made:
        yield made
