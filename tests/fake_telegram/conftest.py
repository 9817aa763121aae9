"""A fake with one person in one supergroup, and a client that calls it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.fake_telegram import NO_LIMITS, Chat, FakeTelegram, Timing, User
from tests.fake_telegram.calling import Caller, calling

BRISK = Timing(same_offset_ms=0, webhook_pause_ms=20, webhook_most_pause_ms=100, webhook_retry_after_scale=0.05)


@pytest.fixture
async def telegram() -> AsyncIterator[FakeTelegram]:
    async with FakeTelegram(limits=NO_LIMITS, timing=BRISK).serving() as telegram:
        yield telegram


@pytest.fixture
async def call(telegram: FakeTelegram) -> AsyncIterator[Caller]:
    async with calling(telegram) as caller:
        yield caller


@pytest.fixture
def ana(telegram: FakeTelegram) -> User:
    return telegram.world.user("Ana", username="ana")


@pytest.fixture
def ben(telegram: FakeTelegram) -> User:
    return telegram.world.user("Ben")


@pytest.fixture
def room(telegram: FakeTelegram, ana: User, ben: User) -> Chat:
    return telegram.world.supergroup("Room", ana, [ben])
