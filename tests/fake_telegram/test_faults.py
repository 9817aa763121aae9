"""Faults that strike on schedule."""

from __future__ import annotations

import asyncio
import time

import httpx
import pytest

from bot.fake_telegram import (
    NO_LIMITS,
    Chat,
    FakeTelegram,
    Moment,
    Reset,
    Shown,
    Slow,
    Stall,
    User,
    Wrong,
    broken,
    flood,
    refusal,
)
from bot.fake_telegram.clock import monotonic_ms
from tests.fake_telegram.calling import Caller, calling


async def test_a_429_says_how_long_and_holds_the_chat(
    telegram: FakeTelegram, call: Caller, room: Chat, ana: User
) -> None:
    other = telegram.world.supergroup("Other", ana)
    telegram.faults.plan(flood(1), "sendMessage", chat=room)
    refused = await call.send(room)
    assert (refused.status, refused.why) == (429, "Too Many Requests: retry after 1")
    assert refused.body["parameters"] == {"retry_after": 1}
    assert (await call.send(other)).status == 200
    telegram.assert_clean()
    await asyncio.sleep(0.1)
    assert (await call.send(room)).status == 429
    assert [breach.wrong for breach in telegram.judge.breaches] == [Wrong.HALTED]
    await asyncio.sleep(0.95)
    assert (await call.send(room)).status == 200, "a call in the halt did not lengthen it"
    assert len(telegram.judge.breaches) == 1


async def test_calls_that_were_under_way_as_the_429_was_answered_are_no_breach(
    telegram: FakeTelegram, call: Caller, room: Chat
) -> None:
    telegram.faults.plan(flood(1), "sendMessage", chat=room)
    statuses = [answer.status for answer in await asyncio.gather(*(call.send(room) for _ in range(3)))]
    assert statuses.count(429) == 3
    telegram.assert_clean()


async def test_refusals_and_broken_servers_do_nothing(telegram: FakeTelegram, call: Caller, room: Chat) -> None:
    telegram.faults.plan(refusal("CHAT_RESTRICTED"), times=2)
    telegram.faults.plan(broken(500, "Internal Server Error"))
    assert [(await call.send(room)).why for _ in range(3)] == [
        "Bad Request: CHAT_RESTRICTED",
        "Bad Request: CHAT_RESTRICTED",
        "Internal Server Error",
    ]
    telegram.faults.plan(broken(as_html=True))
    response = await call.client.post(f"/bot{call.token}/getMe")
    assert (response.status_code, response.headers["content-type"][:9]) == (502, "text/html")
    assert not telegram.ledger.entries
    assert (await call.send(room)).status == 200
    assert telegram.ledger.count("sendMessage", 400) == 2
    assert telegram.ledger.count("SENDMESSAGE") == 4


@pytest.mark.parametrize(("moment", "shown"), [(Moment.BEFORE, 0), (Moment.AFTER, 1)])
async def test_a_reset_comes_before_or_after_the_message_is_stored(
    telegram: FakeTelegram, call: Caller, room: Chat, moment: Moment, shown: int
) -> None:
    telegram.faults.plan(Reset(moment), "sendMessage")
    with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
        await call.send(room)
    assert len(list(telegram.ledger.of(room, Shown.SENT))) == shown
    assert (await call.send(room)).status == 200


@pytest.mark.parametrize(("moment", "shown"), [(Moment.BEFORE, 0), (Moment.AFTER, 1)])
async def test_a_stall_never_answers_and_comes_before_or_after_the_message_is_stored(
    telegram: FakeTelegram, call: Caller, room: Chat, moment: Moment, shown: int
) -> None:
    telegram.faults.plan(Stall(600, moment), "sendMessage")
    with pytest.raises(httpx.ReadTimeout):
        await call.client.post(f"/bot{call.token}/sendMessage", data={"chat_id": room.id, "text": "x"}, timeout=0.2)
    assert len(list(telegram.ledger.of(room, Shown.SENT))) == shown
    began = time.monotonic()
    telegram.faults.plan(Stall(200, moment), "sendMessage")
    with pytest.raises(httpx.TransportError):
        await call.send(room)
    assert time.monotonic() - began >= 0.2
    assert len(list(telegram.ledger.of(room, Shown.SENT))) == 2 * shown


async def test_a_slow_answer_is_late_and_right(telegram: FakeTelegram, call: Caller, room: Chat) -> None:
    telegram.faults.plan(Slow(200))
    began = time.monotonic()
    assert (await call.send(room)).status == 200
    assert time.monotonic() - began >= 0.2


async def test_a_fault_strikes_from_when_to_when_and_can_be_called_off(
    telegram: FakeTelegram, call: Caller, room: Chat
) -> None:
    now = monotonic_ms()
    telegram.faults.plan(broken(), times=None, until_ms=now)
    telegram.faults.plan(broken(), times=None, from_ms=now + 60_000)
    planned = telegram.faults.plan(broken(503, "away"), times=None, from_ms=now, until_ms=now + 60_000)
    assert [(await call.send(room)).status for _ in range(3)] == [503, 503, 503]
    assert planned.struck == 3
    telegram.faults.call_off(planned)
    assert (await call.send(room)).status == 200
    telegram.faults.plan(broken(), times=None)
    telegram.faults.call_off()
    assert (await call.send(room)).status == 200


async def test_telegram_can_be_away_and_come_back_at_its_address_as_it_was() -> None:
    fake = FakeTelegram(limits=NO_LIMITS)
    ana = fake.world.user("Ana")
    room = fake.world.supergroup("Room", ana)
    async with fake.serving() as telegram, calling(telegram) as call:
        assert (await call.send(room)).status == 200
        port = int(telegram.url.rpartition(":")[2])
    async with calling(fake) as call:
        with pytest.raises(httpx.ConnectError):
            await call.send(room)
    fake.crowd.say(ana, room, "while you were away")
    async with fake.serving(port=port) as telegram, calling(telegram) as call:
        assert (await call.updates())[0]["message"]["text"] == "while you were away"
        assert len(telegram.ledger.texts(room)) == 1
