"""What the judge holds against a bot, beyond what single methods do."""

from __future__ import annotations

import asyncio

import pytest

from bot.fake_telegram import Chat, FakeTelegram, Limit, Limits, Status, User, Wrong
from tests.fake_telegram.calling import Caller, calling

TIGHT = Limits(private=Limit(2, 600, 0), group=Limit(3, 1_000, 0), everywhere=Limit(6, 500, 0), grace_ms=0)


async def test_too_much_to_a_group_is_answered_429_and_held_against_the_bot() -> None:
    async with FakeTelegram(limits=TIGHT).serving() as telegram, calling(telegram) as call:
        ana = telegram.world.user("Ana")
        room = telegram.world.supergroup("Room", ana, forum=True)
        topic = telegram.crowd.open_topic(ana, room, "Fruit")
        sent = (await call.send(room)).result
        assert (await call.send(room, message_thread_id=topic)).status == 200
        edit = {"chat_id": room.id, "message_id": sent["message_id"]}
        assert (await call("editMessageText", **edit, text="edits count")).status == 200
        assert (await call("getChat", chat_id=room.id)).status == 200
        telegram.assert_clean()
        refused = await call.send(room)
        assert (refused.status, refused.body["parameters"]) == (429, {"retry_after": 1})
        (breach,) = telegram.judge.breaches
        assert (breach.wrong, breach.chat_id, breach.why) == (
            Wrong.TOO_MUCH,
            room.id,
            "more than 3 in 1000 ms in one chat",
        )
        assert (await call("editMessageText", **edit, text="too early")).status == 429
        assert [breach.wrong for breach in telegram.judge.breaches] == [Wrong.TOO_MUCH, Wrong.HALTED]
        assert len(telegram.ledger.entries) == 3
        await asyncio.sleep(1.05)
        assert (await call.send(room)).status == 200


async def test_too_much_to_a_person_and_too_much_to_all_are_told_apart() -> None:
    async with FakeTelegram(limits=TIGHT).serving() as telegram, calling(telegram) as call:
        people = [telegram.world.private(telegram.world.user(name)) for name in ("Ana", "Ben", "Cy", "Di")]
        assert [(await call.send(people[0])).status for _ in range(3)] == [200, 200, 429]
        assert [(await call.send(chat)).status for chat in people[1:3] * 2] == [200] * 4
        assert (await call.send(people[3])).status == 429
    assert [breach.why for breach in telegram.judge.breaches] == [
        "more than 2 in 600 ms in one chat",
        "more than 6 in 500 ms over all chats",
    ]


async def test_by_default_a_group_bears_20_a_minute() -> None:
    async with FakeTelegram().serving() as telegram, calling(telegram) as call:
        room = telegram.world.supergroup("Room", telegram.world.user("Ana"))
        statuses = [(await call.send(room, str(number))).status for number in range(21)]
    assert statuses == [200] * 20 + [429]
    assert telegram.judge.breaches[0].wrong is Wrong.TOO_MUCH


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (Status.KICKED, "Forbidden: bot was kicked from the supergroup chat"),
        (Status.LEFT, "Forbidden: bot is not a member of the supergroup chat"),
    ],
)
async def test_a_chat_that_the_bot_is_out_of_may_say_so_once(
    telegram: FakeTelegram, call: Caller, ana: User, status: Status, why: str
) -> None:
    room = telegram.world.supergroup("Room", ana, bot=status)
    refused = await call.send(room)
    assert (refused.status, refused.why) == (403, why)
    telegram.assert_clean()
    await asyncio.sleep(0.1)
    assert (await call.send(room)).status == 403
    assert [breach.wrong for breach in telegram.judge.breaches] == [Wrong.GONE]
    telegram.membership.add_bot(room, ana)
    assert (await call.send(room)).status == 200
    telegram.membership.kick(telegram.world.bot, room, ana)
    assert (await call.send(room)).status == 403
    assert len(telegram.judge.breaches) == 1


async def test_a_person_who_blocks_the_bot_is_a_chat_that_it_is_out_of(
    telegram: FakeTelegram, call: Caller, ana: User
) -> None:
    chat = telegram.world.private(ana)
    assert (await call.send(chat)).status == 200
    telegram.membership.block(chat)
    assert (await call.send(chat)).why == "Forbidden: bot was blocked by the user"
    telegram.membership.unblock(chat)
    assert (await call.send(chat)).status == 200
    kinds = [update["my_chat_member"]["new_chat_member"]["status"] for update in await call.updates()]
    assert kinds == ["kicked", "member"]


async def test_a_method_that_telegram_does_not_have_is_a_breach(telegram: FakeTelegram, call: Caller) -> None:
    refused = await call("sendMesage", chat_id=1)
    assert (refused.status, refused.why) == (404, "Not Found: method not found")
    assert [breach.wrong for breach in telegram.judge.breaches] == [Wrong.UNKNOWN_METHOD]
    assert (await call("GETME")).result["username"] == "codemojex_bot"


async def test_a_wrong_token_is_a_breach(telegram: FakeTelegram, call: Caller) -> None:
    call.token = "4242:wrong"  # noqa: S105 - opens nothing
    refused = await call("getMe")
    assert (refused.status, refused.why) == (401, "Unauthorized")
    with pytest.raises(AssertionError, match="token"):
        telegram.assert_clean()
    telegram.judge.assert_clean(Wrong.BAD_TOKEN)


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({}, "chat_id is empty"),
        ({"chat_id": 12345}, "chat not found"),
        ({"chat_id": "@nobody"}, "chat not found"),
    ],
)
async def test_a_chat_that_is_not_there_is_refused(call: Caller, parameters: dict[str, str | int], why: str) -> None:
    assert (await call("sendMessage", text="x", **parameters)).why == f"Bad Request: {why}"


async def test_calls_may_come_as_json_and_as_a_query(telegram: FakeTelegram, call: Caller, room: Chat) -> None:
    url = f"/bot{call.token}/sendMessage"
    response = await call.client.post(
        url, json={"chat_id": room.id, "text": "json", "reply_parameters": {"message_id": 0}}
    )
    assert response.status_code == 200
    response = await call.client.get(url, params={"chat_id": room.id, "text": "query"})
    assert response.status_code == 200
    assert (await call.client.post(url, content=b"{", headers={"Content-Type": "application/json"})).status_code == 400
    assert telegram.ledger.texts() == ["json", "query"]
