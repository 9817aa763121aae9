"""Sending, editing and deleting, and what Telegram refuses of it."""

from __future__ import annotations

from typing import Any

import pytest

from bot.fake_telegram import Chat, FakeTelegram, Shown, User, Wrong
from tests.fake_telegram.calling import Caller, calling

NOT_MODIFIED = (
    "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a "
    "current content and reply markup of the message"
)


def keyboard(*rows: int, data: str = "x") -> dict[str, Any]:
    return {"inline_keyboard": [[{"text": "press", "callback_data": data}] * row for row in rows]}


async def test_a_message_is_read_as_html_and_shown(telegram: FakeTelegram, call: Caller, room: Chat, ana: User) -> None:
    asked = telegram.crowd.say(ana, room, "/hi there")
    sent = (
        await call.send(
            room,
            '<b>Hi</b> &lt;<a href="https://t.me">🍎</a>',
            parse_mode="HTML",
            reply_parameters={"message_id": asked.id},
        )
    ).result
    assert sent["text"] == "Hi <🍎"
    assert sent["entities"] == [
        {"type": "bold", "offset": 0, "length": 2},
        {"type": "text_link", "offset": 4, "length": 2, "url": "https://t.me"},
    ]
    assert sent["message_id"] > asked.id
    assert sent["reply_to_message"]["text"] == "/hi there"
    assert sent["from"]["id"] == telegram.world.bot.id
    (entry,) = telegram.ledger.entries
    assert (entry.shown, entry.chat_id, entry.text, entry.reply_to) == (Shown.SENT, room.id, "Hi <🍎", asked.id)
    telegram.assert_clean()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<b>x", "can't parse entities: Can't find end tag corresponding to start tag \"b\""),
        ("🍎<x>", 'can\'t parse entities: Unsupported start tag "x" at byte offset 4'),
        ("a <b", "can't parse entities: Unclosed start tag at byte offset 2"),
        ("a < b", 'can\'t parse entities: Unsupported start tag "" at byte offset 2'),
        ("x</b>", "can't parse entities: Unexpected end tag at byte offset 1"),
        (
            "<b><i>x</b></i>",
            'can\'t parse entities: Unmatched end tag at byte offset 7, expected "</i>", found "</b>"',
        ),
        ("🍎" * 2049, "message is too long"),
        ("<b> </b>\n", "message text is empty"),
    ],
)
async def test_a_text_that_telegram_cannot_take_is_refused(
    telegram: FakeTelegram, call: Caller, room: Chat, text: str, why: str
) -> None:
    answer = await call.send(room, text, parse_mode="HTML")
    assert (answer.status, answer.why) == (400, f"Bad Request: {why}")
    assert len(telegram.judge.found(Wrong.BAD_MARKUP)) == ("parse entities" in why)
    assert len(telegram.judge.found(Wrong.TOO_BIG)) == ("too long" in why)
    assert not telegram.ledger.entries


async def test_entities_past_the_hundredth_are_dropped_and_held_against_the_bot(
    telegram: FakeTelegram, call: Caller, room: Chat
) -> None:
    assert len((await call.send(room, "<b>x</b>y" * 100, parse_mode="HTML")).result["entities"]) == 100
    telegram.assert_clean()
    assert len((await call.send(room, "<b>x</b>y" * 101, parse_mode="HTML")).result["entities"]) == 100
    assert telegram.judge.found(Wrong.TOO_BIG)


async def test_a_text_of_4096_units_is_taken(telegram: FakeTelegram, call: Caller, room: Chat) -> None:
    assert (await call.send(room, f"<b>{'🍎' * 2048}</b>", parse_mode="HTML")).status == 200
    telegram.assert_clean()


@pytest.mark.parametrize(
    ("markup", "why"),
    [
        (keyboard(9), "reply markup is too long"),
        (keyboard(*[8] * 12, 5), "reply markup is too long"),
        (keyboard(1, data="🍎" * 17), "BUTTON_DATA_INVALID"),
        (keyboard(1, data=""), "BUTTON_DATA_INVALID"),
    ],
)
async def test_a_keyboard_that_is_too_big_is_refused(
    telegram: FakeTelegram, call: Caller, room: Chat, markup: dict[str, Any], why: str
) -> None:
    assert (await call.send(room, reply_markup=markup)).why == f"Bad Request: {why}"
    assert telegram.judge.found(Wrong.TOO_BIG)


async def test_a_keyboard_of_a_hundred_buttons_with_64_bytes_each_is_taken(
    telegram: FakeTelegram, call: Caller, room: Chat
) -> None:
    markup = keyboard(*[8] * 12, 4, data="🍎" * 16)
    assert (await call.send(room, reply_markup=markup)).result["reply_markup"] == markup
    telegram.assert_clean()


async def test_an_edit_shows_the_new_text_and_refuses_the_same_again(
    telegram: FakeTelegram, call: Caller, room: Chat
) -> None:
    sent = (await call.send(room, "one", reply_markup=keyboard(1))).result
    at = {"chat_id": room.id, "message_id": sent["message_id"]}
    same = await call("editMessageText", **at, text="one", reply_markup=keyboard(1))
    assert (same.status, same.why) == (400, NOT_MODIFIED)
    edited = (await call("editMessageText", **at, text="<b>two</b>", parse_mode="HTML")).result
    assert (edited["text"], "edit_date" in edited, "reply_markup" in edited) == ("two", True, False)
    assert (await call("editMessageReplyMarkup", **at)).why == NOT_MODIFIED
    assert (await call("editMessageReplyMarkup", **at, reply_markup=keyboard(2))).status == 200
    assert [entry.shown for entry in telegram.ledger.of(room)] == [Shown.SENT, Shown.EDITED, Shown.EDITED]
    telegram.assert_clean()


async def test_only_the_bot_s_own_messages_that_are_there_can_be_edited(
    telegram: FakeTelegram, call: Caller, room: Chat, ana: User
) -> None:
    said = telegram.crowd.say(ana, room, "mine")
    sent = (await call.send(room)).result
    other = await call("editMessageText", chat_id=room.id, message_id=said.id, text="yours")
    assert other.why == "Bad Request: message can't be edited"
    assert (await call("deleteMessage", chat_id=room.id, message_id=sent["message_id"])).result is True
    for method in ("editMessageText", "editMessageReplyMarkup"):
        gone = await call(method, chat_id=room.id, message_id=sent["message_id"], text="?")
        assert gone.why == "Bad Request: message to edit not found"
    again = await call("deleteMessage", chat_id=room.id, message_id=sent["message_id"])
    assert again.why == "Bad Request: message to delete not found"
    refused = await call("deleteMessage", chat_id=room.id, message_id=said.id)
    assert refused.why == "Bad Request: message can't be deleted"
    telegram.membership.promote(telegram.world.bot, room, ana)
    assert (await call("deleteMessage", chat_id=room.id, message_id=said.id)).status == 200


async def test_a_reply_to_what_is_gone_needs_leave_to_go_without(
    telegram: FakeTelegram, call: Caller, room: Chat, ana: User
) -> None:
    said = telegram.crowd.say(ana, room, "mine")
    telegram.crowd.delete(said)
    refused = await call.send(room, reply_parameters={"message_id": said.id})
    assert (refused.status, refused.why) == (400, "Bad Request: message to be replied not found")
    leave = {"message_id": said.id, "allow_sending_without_reply": True}
    assert "reply_to_message" not in (await call.send(room, reply_parameters=leave)).result
    telegram.assert_clean()


async def test_a_reply_to_a_message_of_another_chat_is_a_breach(
    telegram: FakeTelegram, call: Caller, room: Chat, ana: User
) -> None:
    other = telegram.world.supergroup("Other", ana)
    said = telegram.crowd.say(ana, other, "there")
    leave = {"message_id": said.id, "allow_sending_without_reply": True}
    assert (await call.send(room, reply_parameters=leave)).status == 200
    (breach,) = telegram.judge.breaches
    assert (breach.wrong, breach.chat_id) == (Wrong.WRONG_CHAT, room.id)
    with pytest.raises(AssertionError, match=f"sendMessage to chat {room.id}.*another chat"):
        telegram.assert_clean()


async def test_a_reply_to_what_was_deleted_here_is_no_breach_where_ids_are_alike() -> None:
    async with FakeTelegram(ids_alike=True).serving() as telegram, calling(telegram) as call:
        ana = telegram.world.user("Ana")
        room, other = (telegram.world.supergroup(title, ana) for title in ("Room", "Other"))
        said, alike = (telegram.crowd.say(ana, chat, "x") for chat in (room, other))
        assert said.id == alike.id
        telegram.crowd.delete(said)
        leave = {"message_id": said.id, "allow_sending_without_reply": True}
        assert (await call.send(room, reply_parameters=leave)).status == 200
    telegram.assert_clean()


async def test_topics_are_addressed_by_their_thread_and_general_by_none(
    telegram: FakeTelegram, call: Caller, ana: User
) -> None:
    forum = telegram.world.supergroup("Forum", ana, forum=True)
    topic = telegram.crowd.open_topic(ana, forum, "Fruit")
    sent = (await call.send(forum, message_thread_id=topic)).result
    assert (sent["message_thread_id"], sent["is_topic_message"]) == (topic, True)
    assert "message_thread_id" not in (await call.send(forum)).result
    assert (await call.send(forum, message_thread_id=999)).why == "Bad Request: message thread not found"
    telegram.crowd.close_topic(ana, forum, topic)
    assert (await call.send(forum, message_thread_id=topic)).why == "Bad Request: TOPIC_CLOSED"
    telegram.crowd.reopen_topic(ana, forum, topic)
    telegram.assert_clean()
    telegram.crowd.delete_topic(forum, topic)
    assert (await call.send(forum, message_thread_id=topic)).why == "Bad Request: message thread not found"
    assert (await call.send(forum, message_thread_id=1)).why == "Bad Request: message thread not found"
    assert [breach.wrong for breach in telegram.judge.breaches] == [Wrong.GENERAL_THREAD]


async def test_the_thread_of_a_reply_is_no_address(
    telegram: FakeTelegram, call: Caller, room: Chat, ana: User, ben: User
) -> None:
    first = telegram.crowd.say(ana, room, "first")
    reply = telegram.crowd.say(ben, room, "second", reply_to=first)
    assert (reply.thread, reply.topical) == (first.id, False)
    assert (await call.send(room, message_thread_id=reply.thread)).why == "Bad Request: message thread not found"


async def test_the_ledger_counts_the_busiest_minute(telegram: FakeTelegram, call: Caller, room: Chat) -> None:
    for number in range(3):
        await call.send(room, str(number))
    assert telegram.ledger.busiest(room) == 3
    assert telegram.ledger.busiest(room, 0) == 0
    assert telegram.ledger.texts(room) == telegram.ledger.texts() == ["0", "1", "2"]
