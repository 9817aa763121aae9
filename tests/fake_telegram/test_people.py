"""What people do, and what the bot hears of it."""

from __future__ import annotations

from typing import Any

import pytest
from telegram import Update

from bot.fake_telegram import NO_LIMITS, Chat, FakeTelegram, Sign, Status, User
from bot.fake_telegram.pending import UNLESS_ASKED
from tests.fake_telegram.calling import Caller, calling


async def messages(call: Caller) -> list[dict[str, Any]]:
    return [update["message"] for update in await call.updates() if "message" in update]


async def test_a_message_says_who_where_and_what(telegram: FakeTelegram, call: Caller, room: Chat, ana: User) -> None:
    telegram.crowd.say(ana, room, "🍎 /board now")
    (message,) = await messages(call)
    assert message["chat"] == {"id": room.id, "type": "supergroup", "title": "Room"}
    assert message["from"] == {"id": ana.id, "is_bot": False, "first_name": "Ana", "username": "ana"}
    assert message["entities"] == [{"type": "bot_command", "offset": 3, "length": 6}]
    assert room.id < -1_002_000_000_000 + 1
    assert ana.id > 2**32


async def test_an_anonymous_admin_speaks_for_the_group_and_a_channel_for_itself(
    telegram: FakeTelegram, call: Caller, room: Chat, ana: User, ben: User
) -> None:
    channel = telegram.world.channel("News", ana)
    telegram.membership.promote(ben, room, ana, anonymous=True)
    telegram.crowd.say(ben, room, "/pause")
    telegram.crowd.say(ana, room, "hello", as_channel=channel)
    telegram.membership.demote(ben, room, ana)
    telegram.crowd.say(ben, room, "myself")
    hidden, spoken, plain = await messages(call)
    assert (hidden["from"]["id"], hidden["sender_chat"]["id"]) == (1087968824, room.id)
    assert (spoken["from"]["id"], spoken["sender_chat"]["id"]) == (136817688, channel.id)
    assert plain["from"]["id"] == ben.id
    assert "sender_chat" not in plain


async def test_a_channel_s_post_is_forwarded_into_its_group(
    telegram: FakeTelegram, call: Caller, room: Chat, ana: User
) -> None:
    channel = telegram.world.channel("News", ana)
    telegram.crowd.post(channel, "extra", into=room)
    post, forward = await call.updates()
    assert post["channel_post"]["sender_chat"]["id"] == channel.id
    assert forward["message"]["from"]["id"] == 777000
    assert forward["message"]["is_automatic_forward"] is True


async def test_in_privacy_the_bot_hears_commands_replies_and_service_messages_unless_it_is_an_admin() -> None:
    fake = FakeTelegram(reads_all=False, limits=NO_LIMITS)
    async with fake.serving() as telegram, calling(telegram) as call:
        ana = telegram.world.user("Ana")
        room = telegram.world.supergroup("Room", ana)
        assert (await call("getMe")).result["can_read_all_group_messages"] is False
        sent = (await call.send(room)).result
        telegram.crowd.say(ana, room, "not heard")
        telegram.crowd.say(ana, room, "/board@other_bot not heard")
        telegram.crowd.say(ana, room, "/board")
        telegram.crowd.say(ana, room, "/board@codemojex_bot")
        telegram.crowd.say(ana, room, "a reply", reply_to=room.messages[sent["message_id"]])
        telegram.crowd.say(ana, telegram.world.private(ana), "in private")
        telegram.membership.promote(telegram.world.bot, room, ana)
        telegram.crowd.say(ana, room, "to an admin")
        assert [message["text"] for message in await messages(call)] == [
            "/board",
            "/board@codemojex_bot",
            "a reply",
            "in private",
            "to an admin",
        ]


async def test_a_bot_that_was_kicked_hears_of_that_and_of_nothing_after(
    telegram: FakeTelegram, call: Caller, room: Chat, ana: User
) -> None:
    telegram.membership.kick(telegram.world.bot, room, ana)
    telegram.crowd.say(ana, room, "not heard")
    telegram.membership.add_bot(room, ana)
    telegram.crowd.say(ana, room, "heard")
    kicked, added, joined, said = await call.updates()
    change = kicked["my_chat_member"]
    assert (change["old_chat_member"]["status"], change["new_chat_member"]["status"]) == ("member", "kicked")
    assert change["from"]["id"] == ana.id
    assert added["my_chat_member"]["new_chat_member"]["status"] == "member"
    assert joined["message"]["new_chat_members"][0]["id"] == telegram.world.bot.id
    assert said["message"]["text"] == "heard"


@pytest.mark.parametrize("signs", [(Sign.TO, Sign.FROM), (Sign.FROM, Sign.TO)])
async def test_a_group_becomes_a_supergroup_in_either_order_of_its_signs(
    telegram: FakeTelegram, call: Caller, ana: User, ben: User, signs: tuple[Sign, Sign]
) -> None:
    group = telegram.world.group("Small", ana, [ben])
    before = telegram.crowd.say(ben, group, "before")
    chat = telegram.membership.migrate(group, ana, signs)
    told = [message for message in await messages(call) if "text" not in message]
    assert [next(sign for sign in Sign if sign.value in message) for message in told] == list(signs)
    by_sign = {sign: next(message for message in told if sign.value in message) for sign in signs}
    assert (by_sign[Sign.TO]["chat"]["id"], by_sign[Sign.TO][Sign.TO.value]) == (group.id, chat.id)
    assert (by_sign[Sign.FROM]["chat"]["id"], by_sign[Sign.FROM][Sign.FROM.value]) == (chat.id, group.id)
    refused = await call.send(group)
    assert refused.why == "Bad Request: group chat was upgraded to a supergroup chat"
    assert refused.body["parameters"] == {"migrate_to_chat_id": chat.id}
    assert (await call("getChatMember", chat_id=group.id, user_id=ana.id)).body["parameters"]["migrate_to_chat_id"]
    assert (await call("getChatMember", chat_id=chat.id, user_id=ana.id)).result["status"] == "creator"
    with pytest.raises(ValueError, match="supergroup now"):
        telegram.crowd.say(ben, group, "after")
    leave = {"message_id": before.id, "allow_sending_without_reply": True}
    assert (await call.send(chat, reply_parameters=leave)).status == 200
    telegram.assert_clean()


async def test_the_400_may_be_the_first_sign_of_a_migration(telegram: FakeTelegram, call: Caller, ana: User) -> None:
    group = telegram.world.group("Small", ana)
    telegram.membership.migrate(group, ana, signs=())
    assert (await call.send(group)).status == 400
    assert await call.updates() == []
    telegram.membership.tell(Sign.FROM, group, ana)
    assert len(await call.updates()) == 1
    with pytest.raises(ValueError, match="no small group"):
        telegram.membership.migrate(group, ana)


async def test_members_are_what_they_became(
    telegram: FakeTelegram, call: Caller, room: Chat, ana: User, ben: User
) -> None:
    async def status(user_id: int) -> str:
        return str((await call("getChatMember", chat_id=room.id, user_id=user_id)).result["status"])

    stranger = telegram.world.user("Cy")
    assert [await status(user.id) for user in (ana, ben, stranger)] == ["creator", "member", "left"]
    assert (await call("getChatMember", chat_id=room.id, user_id=7)).why == "Bad Request: user not found"
    telegram.membership.promote(ben, room, ana, anonymous=True)
    assert (await call("getChatMember", chat_id=room.id, user_id=ben.id)).result["is_anonymous"] is True
    other_bot = telegram.world.user("Other", is_bot=True)
    telegram.membership.promote(other_bot, room, ana)
    admins = (await call("getChatAdministrators", chat_id=room.id)).result
    assert {admin["user"]["id"] for admin in admins} == {ana.id, ben.id}
    telegram.membership.demote(ben, room, ana)
    telegram.membership.restrict(ben, room, ana)
    assert await status(ben.id) == "restricted"
    telegram.membership.kick(ben, room, ana)
    assert await status(ben.id) == "kicked"
    telegram.membership.join(stranger, room)
    assert (await call("getChatMemberCount", chat_id=room.id)).result == 4
    telegram.membership.leave(stranger, room)
    assert await status(stranger.id) == "left"
    private = telegram.world.private(ana)
    assert (await call("getChatAdministrators", chat_id=private.id)).status == 400
    assert (await call("getChat", chat_id=private.id)).result["first_name"] == "Ana"
    assert (await call("leaveChat", chat_id=room.id)).result is True
    assert (await call("getChat", chat_id=room.id)).status == 403


async def test_the_menu_is_kept_as_it_was_set(call: Caller) -> None:
    menu = [{"command": "board", "description": "Standings"}]
    assert (await call("setMyCommands", commands=menu)).result is True
    assert (await call("getMyCommands")).result == menu
    bad = [{"command": "Board!", "description": "Standings"}]
    assert (await call("setMyCommands", commands=bad)).why == "Bad Request: BOT_COMMAND_INVALID"
    assert (await call("deleteMyCommands")).result is True
    assert (await call("getMyCommands")).result == []


async def test_chats_number_their_messages_apart_or_alike() -> None:
    for alike in (False, True):
        telegram = FakeTelegram(ids_alike=alike)
        ana = telegram.world.user("Ana")
        one, other = (telegram.world.supergroup(title, ana) for title in ("one", "other"))
        ids = [telegram.crowd.say(ana, chat, "x").id for chat in (one, other, one, other)]
        assert len(set(ids)) == (2 if alike else 4)
        assert ids[0] < ids[2]
        assert ids[1] < ids[3]


async def test_the_library_reads_every_kind_of_update(
    telegram: FakeTelegram, call: Caller, room: Chat, ana: User, ben: User
) -> None:
    await call.updates(allowed_updates=sorted(telegram.pending.allowed | UNLESS_ASKED))
    forum = telegram.world.supergroup("Forum", ana, [ben], forum=True)
    topic = telegram.crowd.open_topic(ana, forum, "Fruit")
    telegram.crowd.say(ben, forum, "in a topic", thread=topic)
    telegram.crowd.say(ben, forum, "in General", thread=1)
    telegram.crowd.close_topic(ana, forum, topic)
    telegram.crowd.edit(telegram.crowd.say(ana, room, "x"), "y")
    telegram.crowd.post(telegram.world.channel("News", ana), "extra")
    for status in Status:
        telegram.world.supergroup("Other", ana, bot=status)
    telegram.membership.promote(ben, room, ana)
    telegram.membership.restrict(ben, room, ana)
    telegram.membership.kick(ben, room, ana)
    telegram.membership.kick(telegram.world.bot, room, ana)
    telegram.crowd.press(ana, telegram.crowd.say(ana, forum, "x"), "data")
    telegram.membership.migrate(telegram.world.group("Small", ana), ana)
    updates = [Update.de_json(update, None) for update in await call.updates()]
    assert len(updates) == 15
    assert all(update.effective_chat is not None for update in updates)
    topical = updates[1].message
    assert topical is not None
    assert (topical.message_thread_id, topical.is_topic_message) == (topic, True)
    general = updates[2].message
    assert general is not None
    assert (general.message_thread_id, general.is_topic_message) == (None, None)


@pytest.mark.parametrize("text", ["", " \n", "x" * 4097, "\ud800"])
async def test_clients_send_no_text_that_telegram_would_not_take(
    telegram: FakeTelegram, room: Chat, ana: User, text: str
) -> None:
    with pytest.raises(ValueError, match=r"characters|surrogates"):
        telegram.crowd.say(ana, room, text)
    with pytest.raises(ValueError, match="no topic"):
        telegram.crowd.say(ana, room, "x", thread=7)
