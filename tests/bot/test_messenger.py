"""Delivery: what goes into one message, and what is made of Telegram's answer."""

from __future__ import annotations

import httpx
import pytest
from redis.asyncio import Redis
from telegram.error import BadRequest, TimedOut

from bot.budget import Limits
from bot.messenger import TelegramMessenger
from engine.game.notices import (
    LeverPulled,
    Page,
    PageShown,
)
from engine.workers.ports import Moved, Told, TryLater, Unreachable
from tests.bot.api import FakeApi, Fault, flood
from tests.bot.api import Refusal as Answered
from tests.bot.making import GROUP
from tests.bot.notices import answer, item
from tests.bot.stage import UNLIMITED, bot_on

DAY_MS = 86_400_000

# The library reads its own deprecated attribute as it makes a RetryAfter.
pytestmark = pytest.mark.filterwarnings("ignore:.*retry_after:telegram.warnings.PTBDeprecationWarning")


async def test_one_answer_replies_to_its_message(api: FakeApi, messenger: TelegramMessenger) -> None:
    assert await messenger.say([item(answer())]) == Told(1, 0)
    (sent,) = api.sent
    assert (sent.chat, sent.reply_to, sent.thread) == (GROUP, 5, None)
    assert sent.parameters["parse_mode"] == "HTML"
    assert sent.parameters["link_preview_options"] == {"is_disabled": True}


async def test_an_answer_arrives_although_its_message_was_deleted(api: FakeApi, messenger: TelegramMessenger) -> None:
    api.deleted.add(5)
    assert await messenger.say([item(answer())]) == Told(1, 0)
    assert len(api.sent) == 1


@pytest.mark.parametrize(("chat", "rest_ms"), [(11, 1_000), (GROUP, 3_000)])
async def test_a_chat_that_was_spoken_to_rests(api: FakeApi, redis: Redis, chat: int, rest_ms: int) -> None:
    messenger = TelegramMessenger(bot_on(api, redis, Limits()))
    assert await messenger.say([item(answer(), chat=chat)]) == Told(1, rest_ms)
    later = await messenger.say([item(answer(), chat=chat)])
    assert isinstance(later, TryLater)
    assert rest_ms - 1_000 < later.delay_ms <= rest_ms + 100
    assert api.count("sendMessage") == 1


@pytest.mark.parametrize(("thread", "sent_as"), [(0, None), (1, None), (7, 7)])
async def test_a_topic_is_addressed_and_general_never_is(
    api: FakeApi, messenger: TelegramMessenger, thread: int, sent_as: int | None
) -> None:
    await messenger.say([item(LeverPulled("pause"), thread=thread)])
    assert api.sent[0].thread == sent_as


@pytest.mark.parametrize(
    ("fault", "delay_ms"),
    [
        (flood(7), 7_000),
        (httpx.ConnectError("away"), 2_000),
        (httpx.ConnectTimeout("away"), 2_000),
        (httpx.PoolTimeout("busy"), 2_000),
        (Answered(500, "Internal Server Error"), 2_000),
        (Answered(502, "Bad Gateway"), 2_000),
        (Answered(401, "Unauthorized"), 30_000),
    ],
)
async def test_what_certainly_was_not_said_is_said_later(
    api: FakeApi, messenger: TelegramMessenger, fault: Fault, delay_ms: int
) -> None:
    api.faults["sendMessage"].append(_as_http(fault))
    later = await messenger.say([item(answer())])
    assert isinstance(later, TryLater)
    assert later.delay_ms == delay_ms
    assert "TEST" not in later.reason


@pytest.mark.parametrize(
    ("asked_s", "delay_ms"), [(1.5, 1_500), (-5, 1_000), (10**9, DAY_MS), (10**15, DAY_MS), (1e300, DAY_MS)]
)
async def test_a_pause_that_nobody_can_mean_is_a_second_or_a_day(
    api: FakeApi, messenger: TelegramMessenger, asked_s: float, delay_ms: int
) -> None:
    api.faults["sendMessage"].append(Answered(429, "Too Many Requests", {"retry_after": asked_s}))
    assert await messenger.say([item(answer())]) == TryLater(delay_ms, "429")
    held = await messenger.say([item(answer())])
    assert isinstance(held, TryLater), "the whole budget knows of it"
    assert delay_ms - 1_000 < held.delay_ms <= delay_ms


async def test_a_chat_that_moved_says_where(api: FakeApi, messenger: TelegramMessenger) -> None:
    upgraded = "Bad Request: group chat was upgraded to a supergroup chat"
    api.faults["sendMessage"].append(Answered(400, upgraded, {"migrate_to_chat_id": -1009}))
    assert await messenger.say([item(answer())]) == Moved(-1009)


@pytest.mark.parametrize(
    "fault",
    [
        httpx.ReadTimeout("slow"),
        httpx.WriteTimeout("slow"),
        httpx.ReadError("reset"),
        httpx.RemoteProtocolError("cut"),
        httpx.WriteError("reset"),
        Answered(504, "Gateway Timeout"),
    ],
)
async def test_what_may_have_been_said_counts_as_said(api: FakeApi, messenger: TelegramMessenger, fault: Fault) -> None:
    api.faults["sendMessage"].append(_as_http(fault))
    assert await messenger.say([item(answer())]) == Told(1, 0)
    assert api.count("sendMessage") == 1


@pytest.mark.parametrize(
    ("fault", "whole_chat"),
    [
        (Answered(403, "Forbidden: bot was kicked from the supergroup chat"), True),
        (Answered(403, "Forbidden: bot was blocked by the user"), True),
        (Answered(400, "Bad Request: chat not found"), True),
        (Answered(400, "Bad Request: message thread not found"), False),
        (Answered(400, "Bad Request: TOPIC_CLOSED"), False),
        (Answered(400, "Bad Request: not enough rights to send text messages to the chat"), True),
    ],
)
async def test_a_chat_or_topic_that_is_gone_is_unreachable(
    api: FakeApi, messenger: TelegramMessenger, fault: Fault, *, whole_chat: bool
) -> None:
    api.faults["sendMessage"].append(fault)
    gone = await messenger.say([item(answer(), thread=7)])
    assert isinstance(gone, Unreachable)
    assert gone.whole_chat is whole_chat
    assert api.count("sendMessage") == 1


async def test_markup_that_telegram_refuses_is_said_plainly(api: FakeApi, messenger: TelegramMessenger) -> None:
    api.faults["sendMessage"].append(Answered(400, "Bad Request: can't parse entities: unsupported start tag"))
    assert await messenger.say([item(answer(), name="<b>")]) == Told(1, 0)
    assert "parse_mode" not in api.sent[0].parameters
    assert api.sent[0].text.startswith("🟢 \u2068<b>\u2069: 560")


async def test_a_refusal_nobody_foresaw_is_a_bug_and_raises(api: FakeApi, messenger: TelegramMessenger) -> None:
    api.faults["sendMessage"].append(Answered(400, "Bad Request: something new"))
    with pytest.raises(BadRequest, match="Something new"):
        await messenger.say([item(answer())])


async def test_a_bot_that_hears_only_replies_says_how_to_guess(redis: Redis) -> None:
    api = FakeApi(reads_all=False)
    bot = bot_on(api, redis, UNLIMITED)
    async with bot:
        await TelegramMessenger(bot).say([item(PageShown(Page.HELP))])
    assert "Reply to this message with six emoji, or send /g and six emoji." in api.sent[0].text


def _as_http(fault: Fault) -> Fault:
    """As the library's HTTP client would raise it."""
    if isinstance(fault, httpx.TimeoutException):
        error = TimedOut()
        error.__cause__ = fault
        return error
    return fault
