"""How it goes with Telegram is counted: each call, each ask of the budget, each message."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import httpx
import pytest
from redis.asyncio import Redis
from telegram.error import TelegramError

from bot.application import build_bot
from bot.budget import Limits, SharedBudget
from bot.context import TelegramBot
from bot.messenger import TelegramMessenger
from bot.metrics import Meters
from bot.metrics.telegram import MeteredBudget, MeteredMessenger
from engine.game.service import Game
from tests.bot.api import BOT_ID, TOKEN, FakeApi, Fault, Refusal, flood
from tests.bot.making import GROUP
from tests.bot.notices import answer, item
from tests.bot.stage import UNLIMITED
from tests.waiting import wait_until
from tests.workers.making import house, wrong

# The library reads its own deprecated attribute as it makes a RetryAfter.
pytestmark = pytest.mark.filterwarnings("ignore:.*retry_after:telegram.warnings.PTBDeprecationWarning")


@pytest.fixture
def api() -> FakeApi:
    return FakeApi()


def told(meters: Meters, name: str, **labels: str) -> float | None:
    return meters.registry.get_sample_value(f"codemojex_{name}", labels)


def bot_on(api: FakeApi, redis: Redis, meters: Meters, limits: Limits = UNLIMITED) -> TelegramBot:
    budget = MeteredBudget(SharedBudget(redis, BOT_ID, limits), meters.telegram)
    return build_bot(TOKEN, budget=budget, called=meters.telegram.called, request=api, get_updates_request=api)


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        (flood(1), "flood"),
        (Refusal(400, "Bad Request: chat not found"), "refused"),
        (Refusal(403, "Forbidden: bot was kicked from the supergroup chat"), "refused"),
        (Refusal(502, "Bad Gateway"), "network"),
        (httpx.ConnectError("refused"), "network"),
    ],
)
async def test_each_call_is_counted_by_its_outcome(
    redis: Redis, api: FakeApi, meters: Meters, fault: Fault, outcome: str
) -> None:
    bot = bot_on(api, redis, meters)
    await bot.send_message(GROUP, "hello")
    api.faults["sendMessage"].append(fault)
    with pytest.raises(TelegramError):
        await bot.send_message(GROUP, "hello")
    assert told(meters, "telegram_calls_total", method="sendMessage", outcome="ok") == 1
    assert told(meters, "telegram_calls_total", method="sendMessage", outcome=outcome) == 1
    assert told(meters, "telegram_send_seconds_count") == 2


async def test_the_budget_s_answers_are_counted_by_whose_sake_they_are_for(
    redis: Redis, api: FakeApi, meters: Meters
) -> None:
    limits = Limits(calls_a_second=2, private_gap_ms=0, group_gap_ms=3_000, group_calls_a_minute=0)
    budget = bot_on(api, redis, meters, limits).budget
    await budget.take(GROUP)
    await budget.take(GROUP)
    await budget.take(11)
    await budget.take(12)
    await budget.take(None, counted=False)
    assert {
        whose: told(meters, "telegram_budget_asks_total", answer=whose) for whose in ("granted", "chat", "everyone")
    } == {
        "granted": 2,
        "chat": 1,
        "everyone": 1,
    }
    for whose, most_s in (("chat", 3.1), ("everyone", 1.1)):
        waited_s = told(meters, "telegram_budget_wait_seconds_total", answer=whose)
        assert waited_s is not None
        assert 0 < waited_s <= most_s


async def test_each_message_is_counted_by_what_became_of_it(redis: Redis, api: FakeApi, meters: Meters) -> None:
    messenger = MeteredMessenger(TelegramMessenger(bot_on(api, redis, meters)), meters.telegram)
    await messenger.say([item(answer()), item(answer())])
    api.faults["sendMessage"].append(flood(1))
    await messenger.say([item(answer(), chat=11)])
    api.kicked.add(12)
    await messenger.say([item(answer(), chat=12)])
    api.moved[13] = -100
    await messenger.say([item(answer(), chat=13)])
    api.faults["sendMessage"].append(Refusal(400, "Bad Request: something new"))
    with pytest.raises(TelegramError):
        await messenger.say([item(answer(), chat=14)])
    outcomes = ("said", "put_off", "unreachable", "moved", "failed")
    assert [told(meters, "messages_total", outcome=outcome) for outcome in outcomes] == [1] * 5
    assert told(meters, "notices_said_total") == 2


async def test_guesses_and_refusals_are_counted_by_reason(redis: Redis, meters: Meters, ready_sqlite_url: str) -> None:
    async with house(redis, ready_sqlite_url) as made:
        made.game = Game.on(replace(made.world, observer=meters.game))
        room, round_ = await made.open()
        await made.guess(wrong(round_))
        made.messages = lambda: 77
        await made.guess(wrong(round_))
        await made.guess(wrong(round_))
        await made.queues.guesses.cap(room.id, 1)
        made.messages = lambda: 78
        await made.guess(wrong(round_))
        await made.game.guesses.guess(made.request("Ben"), "🍎", explicit=True)
    assert told(meters, "guesses_total", outcome="accepted") == 2
    assert told(meters, "guesses_total", outcome="duplicate") == 1
    assert told(meters, "refusals_total", reason="room_full") == 1
    assert told(meters, "refusals_total", reason="wrong_count") == 1
    assert told(meters, "refusals_total", reason="not_admin") == 0


async def test_a_call_that_was_broken_off_is_no_call(redis: Redis, api: FakeApi, meters: Meters) -> None:
    """A long poll is, each time that a bot stops."""
    polling = asyncio.create_task(bot_on(api, redis, meters).raw_updates(None, 25, ("message",)))
    await wait_until(lambda: api.count("getUpdates"), "it polls")
    polling.cancel()
    await asyncio.wait({polling})
    assert told(meters, "telegram_calls_total", method="getUpdates", outcome="ok") is None
