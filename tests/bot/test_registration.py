"""Telling Telegram where to post: all bots the same, for as long as it takes, and again where it was forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
import structlog

from bot import events
from bot.errors import TokenRefused
from bot.handlers import ALLOWED_UPDATES
from bot.web.registration import Registration
from tests.bot.api import Refusal, flood
from tests.bot.hall import QUICK, Hall, nothing, until_confirmed
from tests.bot.making import said
from tests.bot.posting import SECRET, WEBHOOK
from tests.bot.stage import Stage
from tests.waiting import wait_until

# The library reads its own deprecated attribute as it makes a RetryAfter.
pytestmark = pytest.mark.filterwarnings("ignore:.*retry_after:telegram.warnings.PTBDeprecationWarning")


@asynccontextmanager
async def registered(stage: Stage, look_every_s: float = 300) -> AsyncIterator[Registration]:
    registration = Registration(stage.application.bot, WEBHOOK, QUICK, look_every_s)
    stop = asyncio.Event()
    running = asyncio.create_task(registration.run(stop))
    try:
        await wait_until(lambda: registration.done or running.done(), "Telegram was told")
        yield registration
    finally:
        stop.set()
        await asyncio.wait_for(running, 10)


async def test_telegram_is_told_everything_and_drops_nothing(idle: Stage) -> None:
    async with registered(idle), registered(idle):
        assert idle.api.webhook == {
            "url": WEBHOOK.url,
            "secret_token": SECRET,
            "max_connections": WEBHOOK.connections,
            "allowed_updates": list(ALLOWED_UPDATES),
            "drop_pending_updates": False,
        }
    assert idle.api.count("setWebhook") == 2
    assert idle.api.count("deleteWebhook") == 0, "another bot goes on with it"


@pytest.mark.parametrize(
    "fault",
    [
        Refusal(400, f"Bad Request: bad webhook: failed to resolve host ({SECRET})"),
        httpx.ConnectError("away"),
        Refusal(502, "Bad Gateway"),
        flood(0),
    ],
)
async def test_it_is_tried_until_it_works(idle: Stage, fault: Exception | Refusal) -> None:
    idle.api.faults["setWebhook"].extend([fault] * 3)
    with structlog.testing.capture_logs() as logs:
        async with registered(idle):
            assert idle.api.count("setWebhook") == 4
    assert [line["event"] for line in logs] == [events.WEBHOOK_FAILED] * 3 + [events.WEBHOOK_SET]
    assert SECRET not in repr(logs)


async def test_a_token_that_telegram_refuses_ends_it(idle: Stage) -> None:
    idle.api.faults["setWebhook"].append(Refusal(401, "Unauthorized"))
    with pytest.raises(TokenRefused):
        await Registration(idle.application.bot, WEBHOOK, QUICK).run(asyncio.Event())


async def test_one_that_was_deleted_is_set_again(idle: Stage) -> None:
    async with registered(idle, look_every_s=0.01):
        await idle.application.bot.delete_webhook()
        await wait_until(lambda: idle.api.webhook.get("url") == WEBHOOK.url, "it is set again")


async def test_another_one_is_left_alone_and_told_of(idle: Stage) -> None:
    with structlog.testing.capture_logs() as logs:
        async with registered(idle, look_every_s=0.01):
            await idle.application.bot.set_webhook("https://another.example.org/")
            await wait_until(
                lambda: any(line["event"] == events.WEBHOOK_ELSEWHERE for line in logs), "it tells of the other one"
            )
    assert idle.api.webhook["url"] == "https://another.example.org/"


async def test_polling_deletes_a_webhook_also_one_that_is_set_later(idle: Stage) -> None:
    idle.api.webhook["url"] = WEBHOOK.url
    hall = Hall(idle, nothing)
    async with hall.polling():
        await wait_until(lambda: not idle.api.webhook, "the webhook is deleted")
        idle.api.webhook["url"] = WEBHOOK.url
        idle.api.faults["getUpdates"].append(
            Refusal(
                409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete it"
            )
        )
        idle.api.feed(said("a"))
        await until_confirmed(idle)
    assert hall.done == ["a"]
    assert not idle.api.webhook
