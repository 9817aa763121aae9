"""A whole bot per test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from tests.bot.stage import Stage, stage_on


@pytest.fixture
async def stage(redis: Redis, sqlite_url: str) -> AsyncIterator[Stage]:
    async with stage_on(redis, sqlite_url) as made:
        yield made
