"""Guesses as clients send them."""

from __future__ import annotations

import asyncio
import time
from types import MappingProxyType

import pytest
from redis.asyncio import Redis

from engine.game import themes
from engine.game.reading import read_guess
from engine.game.request import Receipt
from engine.game.themes import THEMES, Theme
from engine.ids import EmojiSetId
from tests.bot.api import BOT_NAME
from tests.bot.making import ANA, BEN, GROUP, group, message, person, private, said, update
from tests.bot.stage import FirstOnes, Stage, stage_on

HANDS = "👍 👎 👌 🤞 🤟 🤘 🤙 👈 👉 👆 👇 ✋ 🤚 🖖 👋 🤏"


@pytest.mark.case("T1")
async def test_a_skin_tone_is_no_emoji_of_its_own(
    redis: Redis, ready_sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hands = Theme(EmojiSetId("EMS00000000099"), "hands", "Hands", tuple(HANDS.split()))
    monkeypatch.setattr(themes, "THEMES", MappingProxyType({**THEMES, "hands": hands}))
    async with stage_on(redis, ready_sqlite_url, draw=FirstOnes()) as stage:
        await stage.say("/newgame hands")
        await stage.told()
        await stage.say("👍🏽👎🏿👌🤞🏻🤟🤘🏼")
        assert (await stage.told())[0] == "🎉 Ana: 600 / 600 (100%) – cracked it!"


@pytest.mark.case("T2")
@pytest.mark.parametrize("variant", ["⚡", "⚡\ufe0f", "⚡\ufe0e"])
async def test_a_variation_selector_makes_no_difference(redis: Redis, ready_sqlite_url: str, variant: str) -> None:
    async with stage_on(redis, ready_sqlite_url, draw=FirstOnes()) as stage:
        await stage.say("/newgame nature")
        await stage.told()
        secret = await stage.secret()
        assert "⚡" in secret
        assert "❄️" in secret
        await stage.say(secret.replace("⚡", variant).replace("❄️", "❄"))
        assert (await stage.told())[0] == "🎉 Ana: 600 / 600 (100%) – cracked it!"


@pytest.mark.case("T3")
@pytest.mark.parametrize("text", ["🍎\u200d" * 1365, "\u200d" + "🍎\u200d" * 1365, "\u200d🍎" * 1365 + "\u200d"])
async def test_a_chain_of_joiners_is_refused_at_once(stage: Stage, text: str) -> None:
    await stage.say("/newgame fruits")
    round_ = await stage.round()
    await stage.told()
    assert (await stage.say(text)).receipt is Receipt.REFUSED
    (refusal,) = await stage.told()
    assert refusal.startswith("✂️ That is 1,36")
    took_s = []
    for _ in range(5):
        began = time.perf_counter()
        read_guess(text, themes.theme("fruits"), round_.keyboard, explicit=True, private=False)
        took_s.append(time.perf_counter() - began)
    assert min(took_s) < 0.005


@pytest.mark.case("T4")
async def test_edits_are_neither_guesses_nor_scored_again(stage: Stage) -> None:
    await stage.say("/newgame fruits")
    await stage.told()
    guess = await stage.near_miss()
    first = message(guess[:-1])
    scored = message(guess)
    await stage.take(update(first))
    await stage.take(update(scored))
    assert len(await stage.told()) == 2
    for edited in ({**first, "text": guess}, {**scored, "text": await stage.secret()}):
        slip = await stage.take(update({**edited, "edit_date": 1_700_000_001}, "edited_message"))
        assert slip.receipt is Receipt.REFUSED
    assert await stage.told() == []
    assert await stage.guesses() == 1


async def test_channel_posts_and_joins_need_nothing_kept(stage: Stage) -> None:
    await stage.say("/newgame fruits")
    await stage.told()
    channel = {"id": -1009, "type": "channel", "title": "News"}
    post = message("/newgame fruits", None, channel)
    del post["from"]
    assert (await stage.take(update(post, "channel_post"))).receipt is Receipt.REFUSED
    joined = message("", None, new_chat_members=[person(99)])
    del joined["text"]
    assert (await stage.take(update(joined))).receipt is Receipt.REFUSED
    assert stage.api.sent == []


@pytest.mark.case("T15")
async def test_the_same_update_twice_at_once_and_after_a_restart_is_one_guess(
    redis: Redis, ready_sqlite_url: str
) -> None:
    async with stage_on(redis, ready_sqlite_url) as stage:
        opening = said("/newgame fruits")
        await asyncio.gather(stage.take(opening), stage.take(opening))
        assert len(await stage.told()) == 1
        guess = said(await stage.near_miss())
        slips = await asyncio.gather(stage.take(guess), stage.take(guess), stage.take(guess))
        assert {slip.receipt for slip in slips} == {Receipt.DURABLE}
        assert len(await stage.told()) == 1
    async with stage_on(redis, ready_sqlite_url) as stage:
        assert (await stage.take(opening)).receipt is Receipt.DURABLE
        assert (await stage.take(guess)).receipt is Receipt.DURABLE
        assert await stage.told() == []
        assert await stage.guesses() == 1
        assert (await stage.round()).number == 1


@pytest.mark.case("T19")
async def test_a_guess_that_was_deleted_before_its_answer_is_answered(redis: Redis, ready_sqlite_url: str) -> None:
    guess = said("")
    async with stage_on(redis, ready_sqlite_url) as stage:
        await stage.say("/newgame fruits")
        await stage.told()
        guess["message"]["text"] = await stage.near_miss()
    async with stage_on(redis, ready_sqlite_url, working=False) as stage:
        assert (await stage.take(guess)).receipt is Receipt.DURABLE
    async with stage_on(redis, ready_sqlite_url, deleted={guess["message"]["message_id"]}) as stage:
        assert await stage.told() == ["🟢 Ana: 560 / 600 (93%)"]


@pytest.mark.case("T21")
async def test_another_bot_is_no_player(stage: Stage) -> None:
    await stage.say("/newgame fruits")
    await stage.told()
    robot = person(77, "Robot", is_bot=True)
    for text in (await stage.secret(), "/board", "/pause", "/g 🍎"):
        assert (await stage.say(text, robot)).receipt is Receipt.REFUSED
    assert await stage.told() == []


async def test_channels_and_their_forwards_are_no_players(stage: Stage) -> None:
    await stage.say("/newgame fruits")
    await stage.told()
    secret = await stage.secret()
    channel = {"id": -1009, "type": "channel", "title": "News"}
    telegram = person(777000, "Telegram")
    as_channel = person(136817688, "Channel", is_bot=True)
    await stage.say(secret, as_channel, sender_chat=channel)
    await stage.say(secret, telegram, sender_chat=channel, is_automatic_forward=True)
    await stage.say(secret, telegram)
    assert await stage.told() == []


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("five", "🔢 I see 5 emoji, and a guess has 6. /board shows the keyboard"),
        ("seven", "🔢 I see 7 emoji, and a guess has 6. /board shows the keyboard"),
        ("🚗🚗🚗🚗🚗🚗", "🔍 🚗 isn't on this round's keyboard. /board shows what is"),
        ("/g", "🔢 I see no emoji there, and a guess has 6. /board shows the keyboard"),
        ("/g <b>", "🔍 < b > aren't on this round's keyboard. /board shows what is"),
    ],
)
async def test_a_guess_that_is_none_gets_a_clear_answer(stage: Stage, text: str, answer: str) -> None:
    await stage.say("/newgame fruits")
    await stage.told()
    first = themes.theme("fruits").emoji_of((await stage.round()).keyboard[0])
    text = {"five": first * 5, "seven": first * 7}.get(text, text)
    assert (await stage.say(text)).receipt is Receipt.REFUSED
    assert await stage.told() == [answer]
    assert await stage.guesses() == 0


async def test_chatter_is_passed_over(stage: Stage) -> None:
    await stage.say("/newgame fruits")
    await stage.told()
    for text in ("hello", "well played 👏", "🙂", "look: 🍎🍐🍊🍋🍌🍉"):
        assert (await stage.say(text)).receipt is Receipt.REFUSED
    assert await stage.told() == []


async def test_a_guess_without_a_round_is_shown_the_way(stage: Stage) -> None:
    await stage.say("🍎🍐🍊🍋🍌🍉")
    await stage.say("/g 🍎🍐🍊🍋🍌🍉")
    assert await stage.told() == ["🎲 No round is running here. Start one with /newgame"] * 2


async def test_a_guess_while_paused_or_just_closed_is_refused_kindly(redis: Redis, ready_sqlite_url: str) -> None:
    async with stage_on(redis, ready_sqlite_url) as stage:
        stage.api.admins.add((GROUP, ANA["id"]))
        await stage.say("/newgame fruits")
        await stage.say("/pause")
        await stage.told()
        await stage.say(await stage.secret(), BEN)
        assert await stage.told() == ["⏸️ The game is paused here. An admin can send /resume to go on"]
        await stage.say("/resume")
        await stage.told()
        secret = await stage.secret()
    async with stage_on(redis, ready_sqlite_url, working=False) as stage:
        stage.api.admins.add((GROUP, ANA["id"]))
        await stage.say("/endgame")
        await stage.say(secret, BEN)
    async with stage_on(redis, ready_sqlite_url) as stage:
        closed, revealed = await stage.told()
        assert closed.startswith("🏁 This round has just closed.")
        assert "An admin ended it" in revealed


async def test_slash_g_guesses_where_plain_messages_are_not_heard(stage: Stage) -> None:
    await stage.say("/newgame fruits")
    await stage.told()
    await stage.say(f"/g {' '.join(await stage.near_miss())}")
    assert await stage.told() == ["🟢 Ana: 560 / 600 (93%)"]


async def test_a_topic_is_a_room_and_a_reply_in_general_is_no_topic(stage: Stage) -> None:
    await stage.say("/newgame fruits", message_thread_id=7, is_topic_message=True)
    assert "Fruits" in (await stage.told(GROUP, 7))[0]
    await stage.say("/newgame animals", message_thread_id=33)
    await stage.say("/board", message_thread_id=1, is_topic_message=True)
    assert ["Animals" in text for text in await stage.told()] == [True, True]
    threads = [call.get("message_thread_id") for name, call in stage.api.calls if name == "sendMessage"]
    assert threads == [7, None, None]


async def test_two_chats_play_two_rooms(stage: Stage) -> None:
    other = group(-1005, "Another")
    await stage.say("/newgame fruits")
    await stage.say("/newgame animals", BEN, other)
    await stage.say("/newgame food", ANA, private(ANA))
    assert len(await stage.told()) == len(await stage.told(-1005)) == len(await stage.told(ANA["id"])) == 1
    await stage.say(await stage.secret(), BEN, other)
    assert "aren't on this round's keyboard" in (await stage.told(-1005))[0]


@pytest.mark.parametrize("command", ["/g", "/g ", "/g\n", f"/G@{BOT_NAME}", f"/g@{BOT_NAME} "])
async def test_a_guess_may_follow_its_command_at_once(stage: Stage, command: str) -> None:
    await stage.say("/newgame fruits")
    assert (await stage.say(f"{command}{await stage.near_miss()}")).receipt is Receipt.DURABLE
    assert (await stage.told())[1:] == ["🟢 Ana: 560 / 600 (93%)"]


@pytest.mark.case("T15")
@pytest.mark.parametrize("meanwhile", ["/pause", "/endgame"])
async def test_a_guess_that_waits_and_comes_again_is_not_refused(
    redis: Redis, ready_sqlite_url: str, meanwhile: str
) -> None:
    async with stage_on(redis, ready_sqlite_url) as stage:
        await stage.say("/newgame fruits")
        await stage.told()
        guess = said(await stage.near_miss(), BEN)
    async with stage_on(redis, ready_sqlite_url, working=False) as stage:
        stage.api.admins.add((GROUP, ANA["id"]))
        assert (await stage.take(guess)).receipt is Receipt.DURABLE
        await stage.say(meanwhile)
        owed = len(await stage.house.unsent())
        assert (await stage.take(guess)).receipt is Receipt.DURABLE
        assert len(await stage.house.unsent()) == owed
        assert (await stage.say(await stage.near_miss(), BEN)).receipt is Receipt.REFUSED
        assert len(await stage.house.unsent()) == owed + 1
