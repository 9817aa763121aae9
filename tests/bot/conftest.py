"""A whole bot per test."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import structlog
from redis.asyncio import Redis

from bot.messenger import TelegramMessenger
from tests.bot.api import FakeApi
from tests.bot.stage import UNLIMITED, Stage, bot_on, stage_on


@pytest.fixture(autouse=True)
def plain_logs() -> None:
    """The library's default draws every traceback with its locals, which takes seconds."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(),
        ]
    )


@pytest.fixture
def ready_sqlite_url(migrated_sqlite: Path, tmp_path: Path) -> str:
    """A database of the test's own, with the newest schema."""
    copy = tmp_path / "ready.sqlite"
    shutil.copyfile(migrated_sqlite, copy)
    return f"sqlite+aiosqlite:///{copy}"


@pytest.fixture
async def stage(redis: Redis, ready_sqlite_url: str) -> AsyncIterator[Stage]:
    async with stage_on(redis, ready_sqlite_url) as made:
        yield made


@pytest.fixture
async def idle(redis: Redis, ready_sqlite_url: str) -> AsyncIterator[Stage]:
    """A bot without workers."""
    async with stage_on(redis, ready_sqlite_url, working=False) as stage:
        yield stage


@pytest.fixture
def api() -> FakeApi:
    return FakeApi()


@pytest.fixture
def messenger(api: FakeApi, redis: Redis) -> TelegramMessenger:
    return TelegramMessenger(bot_on(api, redis, UNLIMITED))
