"""Buttons, and the toasts of whoever presses them."""

from __future__ import annotations

import pytest

from bot.fake_telegram import Chat, FakeTelegram, Shown, User, Wrong
from bot.fake_telegram.messages import Message
from tests.fake_telegram.calling import Caller

TOO_OLD = "Bad Request: query is too old and response timeout expired or query ID is invalid"


async def board(call: Caller, room: Chat) -> Message:
    rows = [[{"text": "A", "callback_data": "a"}, {"text": "B", "callback_data": "b"}]]
    sent = (await call.send(room, reply_markup={"inline_keyboard": rows})).result
    return room.messages[sent["message_id"]]


async def test_a_press_is_told_and_answered_once(telegram: FakeTelegram, call: Caller, room: Chat, ben: User) -> None:
    message = await board(call, room)
    press = telegram.crowd.press(ben, message, "b")
    (update,) = await call.updates()
    query = update["callback_query"]
    assert (query["id"], query["from"]["id"], query["data"]) == (press.id, ben.id, "b")
    assert query["message"]["message_id"] == message.id
    assert (await call("answerCallbackQuery", callback_query_id=press.id, text="taken")).result is True
    assert press.toast == "taken"
    assert [entry.text for entry in telegram.ledger.of(room, Shown.TOAST)] == ["taken"]
    again = await call("answerCallbackQuery", callback_query_id=press.id, text="taken")
    assert (again.status, again.why) == (400, TOO_OLD)
    telegram.assert_clean()


async def test_a_press_is_told_with_its_first_button_unless_it_is_forged(
    telegram: FakeTelegram, call: Caller, room: Chat, ben: User
) -> None:
    message = await board(call, room)
    assert telegram.crowd.press(ben, message).data == "a"
    assert telegram.crowd.press(ben, message, "forged").data == "forged"
    with pytest.raises(ValueError, match="no button"):
        telegram.crowd.press(ben, telegram.crowd.say(ben, room, "plain"))


async def test_an_old_press_cannot_be_answered(telegram: FakeTelegram, call: Caller, room: Chat, ben: User) -> None:
    message = await board(call, room)
    old = telegram.crowd.press(ben, message, age_ms=20_000)
    assert (await call("answerCallbackQuery", callback_query_id=old.id)).why == TOO_OLD
    assert (await call("answerCallbackQuery", callback_query_id="1")).why == TOO_OLD
    assert old.toast is None


async def test_a_toast_has_at_most_200_characters(telegram: FakeTelegram, call: Caller, room: Chat, ben: User) -> None:
    press = telegram.crowd.press(ben, await board(call, room))
    longer = await call("answerCallbackQuery", callback_query_id=press.id, text="x" * 201)
    assert longer.why == "Bad Request: MESSAGE_TOO_LONG"
    assert telegram.judge.found(Wrong.TOO_BIG)
    assert (await call("answerCallbackQuery", callback_query_id=press.id, text="x" * 200)).status == 200


async def test_a_press_under_a_deleted_message_shows_no_message(
    telegram: FakeTelegram, call: Caller, room: Chat, ben: User
) -> None:
    message = await board(call, room)
    telegram.crowd.delete(message)
    telegram.crowd.press(ben, message, "a")
    (update,) = await call.updates()
    assert update["callback_query"]["message"]["date"] == 0
