"""A whole bot per test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import structlog
from redis.asyncio import Redis

from tests.bot.stage import Stage, stage_on


@pytest.fixture(autouse=True)
def plain_logs() -> Iterator[None]:
    """The library's default draws every traceback with its locals, which takes seconds."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(),
        ]
    )
    yield
    structlog.reset_defaults()


@pytest.fixture
async def stage(redis: Redis, sqlite_url: str) -> AsyncIterator[Stage]:
    async with stage_on(redis, sqlite_url) as made:
        yield made
