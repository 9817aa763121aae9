"""A round through the real Application, its workers and its polling, against the fake over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from pydantic import SecretStr

from bot.fake_telegram import NO_LIMITS, Chat, FakeTelegram, Moment, Reset, Shown, broken, flood
from bot.fake_telegram.messages import Message
from bot.running import together
from bot.settings import Settings
from bot.terminal.keyboard import Keyboard
from bot.wiring import Addresses, open_application, open_house, work
from bot.wiring_intake import take_updates
from engine.game.draw import SecureDraw
from tests.fake_telegram.conftest import BRISK
from tests.waiting import wait_until

# The library reads its own deprecated attribute as it makes a RetryAfter.
pytestmark = pytest.mark.filterwarnings("ignore:.*retry_after:telegram.warnings.PTBDeprecationWarning")


@asynccontextmanager
async def playing(
    telegram: FakeTelegram, redis_url: str, database_url: str, *, cooldown_ms: int = 50
) -> AsyncIterator[None]:
    """Run bot and workers on ``telegram`` while this lasts."""
    settings = Settings(  # type: ignore[call-arg] # mypy doesn't see the aliases
        TELEGRAM_TOKEN=SecretStr(telegram.token),
        telegram_api=telegram.url,
        group_cooldown_ms=cooldown_ms,
        private_cooldown_ms=cooldown_ms,
    )
    addresses = Addresses(redis_url, database_url)
    stop = asyncio.Event()
    async with (
        open_house(settings, addresses, SecureDraw(), migrating=True) as house,
        open_application(house, stop) as application,
    ):
        assert application is not None
        running = asyncio.create_task(
            together(stop, work(house, application, stop), take_updates(house, application, stop))
        )
        try:
            yield
        finally:
            stop.set()
            await running


async def told(telegram: FakeTelegram, chat: Chat, words: str, times: int = 1) -> str:
    """Wait until ``chat`` was told ``words`` so often; answers the newest message with them."""

    def found() -> list[str]:
        return [text for text in telegram.ledger.texts(chat) if words in text]

    await wait_until(lambda: len(found()) >= times, f"{chat.title} is told {words!r} {times}x", 30_000)
    return found()[-1]


async def play(telegram: FakeTelegram) -> tuple[Chat, Message]:
    """Play one round to its end; answers the room and the guess."""
    ana, ben = telegram.world.user("Ana"), telegram.world.user("Ben")
    room = telegram.world.supergroup("Room", ana, [ben])
    telegram.crowd.say(ana, room, "/newgame fruits 10")
    keyboard = Keyboard.seen_in(await told(telegram, room, "Round 1"))
    assert keyboard is not None
    guess = telegram.crowd.say(ben, room, "".join(keyboard.emoji[:6]))
    await told(telegram, room, " / 600 (")
    telegram.crowd.say(ben, room, "/endgame")
    await told(telegram, room, "admin")
    telegram.crowd.say(ana, room, "/endgame")
    await told(telegram, room, "nonce")
    await telegram.pending.emptied()
    return room, guess


async def test_a_short_round_is_played(redis_url: str, sqlite_url: str) -> None:
    async with (
        FakeTelegram(limits=NO_LIMITS, timing=BRISK).serving() as telegram,
        playing(telegram, redis_url, sqlite_url),
    ):
        room, guess = await play(telegram)
    assert guess.id in {entry.reply_to for entry in telegram.ledger.of(room, Shown.SENT)}
    assert [command["command"] for command in telegram.desk.menu].count("newgame") == 1
    telegram.assert_clean()


async def test_a_round_goes_on_through_faults_and_nothing_is_said_twice(redis_url: str, sqlite_url: str) -> None:
    async with FakeTelegram(limits=NO_LIMITS, timing=BRISK).serving() as telegram:
        telegram.faults.plan(broken(as_html=True), "getMe")
        telegram.faults.plan(Reset(Moment.AFTER), "getUpdates", times=2)
        telegram.faults.plan(broken(500, "Internal Server Error"), "sendMessage")
        telegram.faults.plan(flood(1), "sendMessage", times=2)
        async with playing(telegram, redis_url, sqlite_url):
            room, _ = await play(telegram)
    texts = telegram.ledger.texts(room)
    assert len(texts) == len(set(texts))
    assert telegram.ledger.count("sendMessage", 429) == 2
    assert telegram.ledger.count("sendMessage", 500) == 1
    telegram.assert_clean()
