"""The in-process Bot API answers the library as Telegram does."""

from __future__ import annotations

import asyncio

import pytest
from telegram import Bot, Update
from telegram.constants import ChatMemberStatus, ParseMode
from telegram.error import BadRequest, InvalidToken, NetworkError

from bot.terminal.api import BOT_USERNAME, TOKEN, ChatApi, ChatRequest
from bot.terminal.chat import ClockIds, GroupChat, Said
from bot.terminal.people import Person, chat_ref

ANA = Person.named("Ana")
BEN = Person.named("Ben")


@pytest.fixture
def chat() -> GroupChat:
    return GroupChat("Test", ANA, Person(1, "Codemojex"), ClockIds(lambda: 1_900_000_000.0))


@pytest.fixture
def shown(chat: GroupChat) -> list[Said]:
    said: list[Said] = []
    chat.watch(said.append)
    return said


@pytest.fixture
async def bot(chat: GroupChat) -> Bot:
    api = ChatApi(chat)
    bot = Bot(TOKEN, request=ChatRequest(api), get_updates_request=ChatRequest(api))
    await bot.initialize()
    return bot


async def get(bot: Bot, offset: int | None = None, timeout: int = 0) -> tuple[Update, ...]:  # noqa: ASYNC109 - the API's
    return await bot.get_updates(offset=offset, timeout=timeout)


async def test_the_bot_knows_itself_and_hears_everything(bot: Bot) -> None:
    me = await bot.get_me()
    assert (me.username, me.is_bot, me.can_read_all_group_messages) == (BOT_USERNAME, True, True)


async def test_a_message_reaches_the_bot_as_telegram_would_send_it(bot: Bot, chat: GroupChat) -> None:
    chat.post(BEN, "🍎 /g@codemojex_bot x", 7)
    (update,) = await get(bot)
    assert update.message is not None
    assert update.effective_user is not None
    assert update.effective_chat is not None
    assert (update.message.message_id, update.message.text) == (7, "🍎 /g@codemojex_bot x")
    assert (update.effective_user.id, update.effective_user.first_name) == (BEN.account_ref, "Ben")
    assert (update.effective_chat.id, update.effective_chat.type) == (chat.ref, "supergroup")
    assert [update.message.parse_entity(entity) for entity in update.message.entities] == ["/g@codemojex_bot"]


async def test_an_update_comes_again_until_an_offset_confirms_it(bot: Bot, chat: GroupChat) -> None:
    chat.post(BEN, "one")
    chat.post(BEN, "two")
    first, second = await get(bot)
    assert await get(bot) == (first, second)
    assert await get(bot, offset=second.update_id) == (second,)
    assert await get(bot, offset=-1) == (second,)
    assert await get(bot, offset=second.update_id + 1) == ()


async def test_everything_is_confirmed_only_by_the_offset_after_it(bot: Bot, chat: GroupChat) -> None:
    await asyncio.wait_for(chat.updates.confirmed(), 5)
    chat.post(BEN, "one")
    (update,) = await get(bot)
    waiting = asyncio.create_task(chat.updates.confirmed())
    await get(bot, offset=update.update_id)
    assert not waiting.done()
    await get(bot, offset=update.update_id + 1)
    await asyncio.wait_for(waiting, 5)


async def test_a_long_poll_ends_with_the_first_message(bot: Bot, chat: GroupChat) -> None:
    polling = asyncio.create_task(get(bot, timeout=30))
    await asyncio.sleep(0)
    chat.post(BEN, "at last")
    assert len(await asyncio.wait_for(polling, 5)) == 1


async def test_what_the_bot_says_is_shown_as_read_from_html(bot: Bot, chat: GroupChat, shown: list[Said]) -> None:
    sent = await bot.send_message(chat.ref, "<b>hi</b> &lt;", parse_mode=ParseMode.HTML)
    assert (shown[0].id, shown[0].text, shown[0].by_bot) == (sent.message_id, "hi <", True)


@pytest.mark.parametrize(
    ("text", "why"),
    [("<b>", "parse entities"), ("<b> </b>", "empty"), ("x" * 4097, "too long"), ("🍎" * 2049, "too long")],
)
async def test_what_telegram_refuses_is_refused_and_not_shown(
    bot: Bot, chat: GroupChat, shown: list[Said], text: str, why: str
) -> None:
    with pytest.raises(BadRequest, match=f"(?i){why}"):
        await bot.send_message(chat.ref, text, parse_mode=ParseMode.HTML)
    assert shown == []


async def test_the_longest_text_counts_its_words_and_not_its_tags(bot: Bot, chat: GroupChat) -> None:
    await bot.send_message(chat.ref, f"<b>{'x' * 4096}</b>", parse_mode=ParseMode.HTML)


async def test_another_chat_is_out_of_reach_for_now_so_that_its_messages_are_kept(bot: Bot, chat: GroupChat) -> None:
    with pytest.raises(NetworkError, match="another chat") as refused:
        await bot.send_message(chat.ref - 1, "hi")
    assert not isinstance(refused.value, BadRequest)


async def test_a_topic_is_not_found(bot: Bot, chat: GroupChat) -> None:
    with pytest.raises(BadRequest, match="thread not found"):
        await bot.send_message(chat.ref, "hi", message_thread_id=5)


async def test_its_first_member_owns_it_and_the_others_do_not(bot: Bot, chat: GroupChat) -> None:
    assert (await bot.get_chat_member(chat.ref, ANA.account_ref)).status == ChatMemberStatus.OWNER
    assert (await bot.get_chat_member(chat.ref, BEN.account_ref)).status == ChatMemberStatus.MEMBER


async def test_a_method_that_does_not_exist_is_not_found(bot: Bot) -> None:
    with pytest.raises(InvalidToken):  # how the library reads a 404
        await bot.log_out()


def test_message_ids_ascend_and_a_later_run_repeats_none() -> None:
    now_s = 1_800_000_000.0
    ids = ClockIds(lambda: now_s)
    one_run = [ids.next() for _ in range(20)]
    assert one_run == sorted(set(one_run))
    assert ClockIds(lambda: now_s + 2.1).next() > one_run[-1]
    assert one_run[0] > 100_000_000, "a script's line numbers come nowhere near"


def test_people_and_chats_keep_their_numbers() -> None:
    assert Person.named("Ana") == Person.named("Ana") != Person.named("ana")
    assert chat_ref("a") == chat_ref("a") != chat_ref("b")
    assert -2_000_000_000_000 < chat_ref("a") < -1_000_000_000_000
    assert 0 < Person.named("Ana").account_ref < 1 << 52
