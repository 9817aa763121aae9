"""Webhooks: what is posted when, in which order, and again."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise
from typing import Any

import pytest
from aiohttp import web

from bot.fake_telegram import NO_LIMITS, Chat, FakeTelegram, Timing, User
from bot.fake_telegram.webhook import Hook
from tests.fake_telegram.calling import Caller
from tests.fake_telegram.conftest import BRISK
from tests.fake_telegram.receiver import Gate, Receiver, answering, ok
from tests.waiting import wait_until


async def test_what_waits_and_what_comes_is_posted_with_the_secret(
    telegram: FakeTelegram, call: Caller, room: Chat, ana: User
) -> None:
    telegram.crowd.say(ana, room, "waited")
    async with Receiver(ok).listening() as receiver:
        answer = await call("setWebhook", url=receiver.url, secret_token="s-1_A")  # noqa: S106 - opens a test
        assert answer.result is True
        telegram.crowd.say(ana, room, "came 🍎")
        await telegram.pending.emptied()
        assert receiver.texts == ["waited", "came 🍎"]
        assert receiver.secrets == ["s-1_A", "s-1_A"]
        info = (await call("getWebhookInfo")).result
        assert (info["url"], info["pending_update_count"]) == (receiver.url, 0)
        refused = await call("getUpdates")
        assert (refused.status, refused.why[:40]) == (409, "Conflict: can't use getUpdates method wh")
        await call("deleteWebhook")
        telegram.crowd.say(ana, room, "for polling")
        assert [update["message"]["text"] for update in await call.updates()] == ["for polling"]
    assert receiver.texts == ["waited", "came 🍎"]


async def test_one_request_is_in_flight_per_chat_and_the_order_of_a_chat_is_kept(
    telegram: FakeTelegram, call: Caller, ana: User
) -> None:
    rooms = [telegram.world.supergroup(str(number), ana) for number in range(5)]
    async with Receiver(ok).listening() as receiver:
        for number in range(100):
            telegram.crowd.say(ana, rooms[number % 5], str(number))
        await call("setWebhook", url=receiver.url, max_connections=100)
        await telegram.pending.emptied()
    for at, room in enumerate(rooms):
        texts = [update["message"]["text"] for update in receiver.got if update["message"]["chat"]["id"] == room.id]
        assert texts == [str(number) for number in range(at, 100, 5)]
        assert receiver.most_in_flight[f"chat {room.id}"] == 1


async def test_chats_go_side_by_side_as_far_as_connections_reach(
    telegram: FakeTelegram, call: Caller, ana: User
) -> None:
    gate = Gate()
    async with Receiver(gate).listening() as receiver:
        await call("setWebhook", url=receiver.url, max_connections=3)
        for number in range(5):
            telegram.crowd.say(ana, telegram.world.supergroup(str(number), ana), str(number))
        await wait_until(lambda: receiver.in_flight["all"] == 3, "three are in flight")
        gate.opened.set()
        await telegram.pending.emptied()
    assert receiver.most_in_flight["all"] == 3
    assert telegram.webhook.tally.most_in_flight == 3


async def test_a_person_s_presses_go_beside_the_messages_of_the_chat(
    telegram: FakeTelegram, call: Caller, room: Chat, ana: User, ben: User
) -> None:
    gate = Gate()
    rows = [[{"text": "A", "callback_data": "a"}]]
    sent = (await call.send(room, reply_markup={"inline_keyboard": rows})).result
    message = room.messages[sent["message_id"]]
    async with Receiver(gate).listening() as receiver:
        await call("setWebhook", url=receiver.url)
        telegram.crowd.say(ana, room, "text")
        telegram.crowd.say(ben, room, "waits for the text before it")
        for user in (ana, ana, ben):
            telegram.crowd.press(user, message)
        await wait_until(lambda: receiver.in_flight["all"] == 3, "a text and a press of each are in flight")
        gate.opened.set()
        await telegram.pending.emptied()
    assert receiver.most_in_flight[f"user {ana.id}"] == receiver.most_in_flight[f"chat {room.id}"] == 1


async def test_what_is_not_answered_with_2xx_is_posted_again_after_growing_pauses(
    telegram: FakeTelegram, call: Caller, room: Chat, ana: User
) -> None:
    times: list[float] = []
    plan = answering(503, 500, 404, 302, 503)

    async def answer(update: dict[str, Any]) -> web.StreamResponse:
        times.append(time.monotonic())
        return await plan(update)

    async with Receiver(answer).listening() as receiver:
        await call("setWebhook", url=receiver.url)
        telegram.crowd.say(ana, room, "first")
        telegram.crowd.say(ana, room, "second")
        await telegram.pending.emptied()
    assert receiver.texts == ["first"] * 6 + ["second"]
    pauses = [round((later - earlier) * 1000) for earlier, later in pairwise(times)]
    assert all(pause >= least for pause, least in zip(pauses, (0, 19, 39, 79, 99), strict=False)), pauses
    info = (await call("getWebhookInfo")).result
    assert info["last_error_message"] == "Wrong response from the webhook: 503"


async def test_other_chats_go_on_while_one_is_posted_again(telegram: FakeTelegram, call: Caller, ana: User) -> None:
    bad, good = telegram.world.supergroup("bad", ana), telegram.world.supergroup("good", ana)

    async def answer(update: dict[str, Any]) -> web.StreamResponse:
        return web.Response(status=503 if update["message"]["chat"]["id"] == bad.id else 200)

    async with Receiver(answer).listening() as receiver:
        await call("setWebhook", url=receiver.url)
        telegram.crowd.say(ana, bad, "never")
        for number in range(20):
            telegram.crowd.say(ana, good, str(number))
        await wait_until(lambda: len(telegram.pending) == 1, "the good chat is done")
        await call("deleteWebhook")
    assert [update["message"]["text"] for update in await call.updates()] == ["never"]


async def test_retry_after_is_heeded(telegram: FakeTelegram, call: Caller, room: Chat, ana: User) -> None:
    async with Receiver(answering(429, headers={"Retry-After": "4"})).listening() as receiver:
        await call("setWebhook", url=receiver.url)
        began = time.monotonic()
        telegram.crowd.say(ana, room, "x")
        await telegram.pending.emptied()
        assert time.monotonic() - began >= 4 * BRISK.webhook_retry_after_scale - 0.01
    assert receiver.texts == ["x", "x"]


async def test_a_webhook_that_is_away_gets_it_when_it_is_back(
    telegram: FakeTelegram, call: Caller, room: Chat, ana: User
) -> None:
    await call("setWebhook", url="http://127.0.0.1:1/hook")
    telegram.crowd.say(ana, room, "x")
    await wait_until(lambda: telegram.webhook.tally.failed >= 3, "it was tried")
    async with Receiver(ok).listening() as receiver:
        await call("setWebhook", url=receiver.url)
        await telegram.pending.emptied()
    assert receiver.texts == ["x"]


async def test_a_webhook_that_does_not_answer_in_time_gets_it_again() -> None:
    slow = asyncio.Event()

    async def answer(_: dict[str, Any]) -> web.StreamResponse:
        if not slow.is_set():
            slow.set()
            await asyncio.Event().wait()
        return web.Response()

    timing = Timing(webhook_ms=200, webhook_pause_ms=10)
    async with (
        FakeTelegram(limits=NO_LIMITS, timing=timing).serving() as telegram,
        Receiver(answer).listening() as hook,
    ):
        ana = telegram.world.user("Ana")
        telegram.webhook.start(Hook(hook.url))
        telegram.crowd.say(ana, telegram.world.supergroup("Room", ana), "x")
        await telegram.pending.emptied()
    assert hook.texts == ["x", "x"]
    assert telegram.webhook.tally.last_error == "Read timeout expired"


async def test_a_press_that_nobody_takes_is_dropped_in_the_end() -> None:
    timing = Timing(press_update_ms=100, webhook_pause_ms=50)
    async with FakeTelegram(timing=timing).serving() as telegram, Receiver(answering(*[503] * 99)).listening() as hook:
        ana = telegram.world.user("Ana")
        chat = telegram.world.supergroup("Room", ana)
        telegram.webhook.start(Hook(hook.url))
        telegram.crowd.press(ana, telegram.crowd.say(ana, chat, "x"), "a")
        await wait_until(lambda: telegram.webhook.tally.dropped == 1, "the press is dropped")
        assert len(telegram.pending) == 1


async def test_replies_of_every_shape_are_understood(
    telegram: FakeTelegram, call: Caller, room: Chat, ana: User
) -> None:
    shapes = iter(["chunked", "close", "empty"] * 2)

    async def answer(_: dict[str, Any]) -> web.StreamResponse:
        shape = next(shapes)
        response = web.Response(status=204 if shape == "empty" else 200, text=None if shape == "empty" else "{}" * 500)
        if shape == "chunked":
            response.enable_chunked_encoding()
        if shape == "close":
            response.force_close()
        return response

    async with Receiver(answer).listening() as receiver:
        await call("setWebhook", url=receiver.url)
        for number in range(6):
            telegram.crowd.say(ana, room, str(number))
        await telegram.pending.emptied()
    assert receiver.texts == list("012345")
    assert telegram.webhook.tally.failed == 0


@pytest.mark.parametrize(
    ("reply", "failed"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n{}", 0),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", 1),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}", 1),
        (b"HTTP/1.1 200", 1),
        (b"", 1),
    ],
)
async def test_a_connection_that_ends_ends_a_reply_or_cuts_it_off(
    telegram: FakeTelegram, room: Chat, ana: User, reply: bytes, failed: int
) -> None:
    whole = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    replies = iter([reply])

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"}}")
        writer.write(next(replies, whole))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        telegram.webhook.start(Hook(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"))
        telegram.crowd.say(ana, room, "x")
        await telegram.pending.emptied()
    assert telegram.webhook.tally.failed == failed


async def test_the_same_update_can_be_posted_many_times_at_once(
    telegram: FakeTelegram, call: Caller, room: Chat, ana: User
) -> None:
    async with Receiver(ok).listening() as receiver:
        await call("setWebhook", url=receiver.url, secret_token="s")  # noqa: S106 - opens a test
        message = telegram.crowd.say(ana, room, "x")
        await telegram.pending.emptied()
        assert await telegram.post_again(message, copies=3) == [200, 200, 200]
    assert len({update["update_id"] for update in receiver.got}) == 1
    assert receiver.secrets == ["s"] * 4


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"url": "ftp://x"}, "invalid webhook URL specified"),
        ({"url": "http://h/", "secret_token": "a b"}, "secret token contains unallowed characters"),
        ({"url": "http://h/", "secret_token": "x" * 257}, "secret token is too long"),
    ],
)
async def test_a_webhook_that_telegram_cannot_use_is_refused(
    call: Caller, parameters: dict[str, Any], why: str
) -> None:
    assert (await call("setWebhook", **parameters)).why == f"Bad Request: {why}"


async def test_pending_updates_can_be_dropped(telegram: FakeTelegram, call: Caller, room: Chat, ana: User) -> None:
    telegram.crowd.say(ana, room, "x")
    await call("deleteWebhook", drop_pending_updates=True)
    await telegram.pending.emptied()


async def test_setting_a_webhook_ends_the_poll_that_waits(telegram: FakeTelegram, call: Caller) -> None:
    polling = asyncio.create_task(call("getUpdates", timeout=20))
    await wait_until(lambda: telegram.desk.polling._running is not None, "it polls")
    await call("setWebhook", url="http://127.0.0.1:1/")
    refused = await polling
    assert (refused.status, refused.why) == (409, "Conflict: terminated by setWebhook request")
