"""Chats that the bot can't speak to: their rooms pause, nothing is sent in vain, and all goes on afterwards."""

from __future__ import annotations

from typing import Any

import pytest
from redis.asyncio import Redis

from engine.game.model import Room
from engine.game.request import Receipt
from tests.bot.making import ANA, BEN, GROUP, group, membership, message, update
from tests.bot.stage import Stage, stage_on
from tests.waiting import wait_until

OTHER = -1005
CHAT = group()


async def the_room(stage: Stage, thread: int = 0) -> Room:
    room = await stage.room(GROUP, thread)
    assert room is not None
    return room


async def a_guess_waits(redis: Redis, database_url: str) -> str:
    """A round with a guess on its lane and a page unsaid; answers a guess that misses."""
    async with stage_on(redis, database_url) as stage:
        await stage.say("/newgame fruits")
        await stage.told()
        near_miss = await stage.near_miss()
    async with stage_on(redis, database_url, working=False) as stage:
        assert (await stage.say(near_miss)).receipt is Receipt.DURABLE
        await stage.say("/help")
    return near_miss


@pytest.mark.case("T7")
@pytest.mark.parametrize("by_admin", [False, True])
async def test_a_bot_that_is_sent_away_falls_silent_and_goes_on_once_it_is_back(
    redis: Redis, ready_database_url: str, *, by_admin: bool
) -> None:
    near_miss = await a_guess_waits(redis, ready_database_url)
    async with stage_on(redis, ready_database_url, working=False) as stage:
        stage.api.admins.add((GROUP, ANA["id"]))
        if by_admin:
            await stage.say("/pause")
        slip = await stage.take(membership("kicked", CHAT))
        assert slip.receipt is Receipt.DURABLE
        assert (await the_room(stage)).paused
        assert (await stage.round()).deadline_ms is None
        assert await stage.house.unsent() == []
    async with stage_on(redis, ready_database_url, prepare=lambda api: api.kicked.add(GROUP)) as stage:
        await wait_until(lambda: _idle(stage), "its jobs are gone")
        assert stage.api.count("sendMessage") == 0
        assert await stage.house.queues.guesses.depth((await the_room(stage)).id) == 1
        stage.api.kicked.clear()
        await stage.take(membership("member", CHAT))
        await stage.take(membership("member", CHAT))
        assert (await the_room(stage)).paused is by_admin
        if by_admin:
            assert await stage.told() == []
            stage.api.admins.add((GROUP, ANA["id"]))
            await stage.say("/resume")
        told = "\n".join(await stage.told())
        assert told.count("▶️ On we go!") == 1
        assert told.count("560 / 600") == 1
        await stage.say(near_miss, BEN)
        assert await stage.told() == ["🟢 Ben: 560 / 600 (93%)"]
        assert await stage.guesses() == 2


async def _idle(stage: Stage) -> bool:
    queues = stage.house.queues
    stats = await queues.notices.stats()
    return not stats.waiting and not stats.leased


@pytest.mark.case("T7")
async def test_a_403_is_heard_once_and_silences_the_chat(redis: Redis, ready_database_url: str) -> None:
    near_miss = await a_guess_waits(redis, ready_database_url)
    async with stage_on(redis, ready_database_url, prepare=lambda api: api.kicked.add(GROUP)) as stage:
        await stage.say("/newgame animals", ANA, group(OTHER))
        await stage.told(OTHER)
        await wait_until(lambda: stage.api.count("sendMessage") == 2, "both chats were tried")

        async def paused() -> bool:
            return (await the_room(stage)).paused

        await wait_until(paused, "the room is paused")
        await wait_until(lambda: _idle(stage), "its jobs are gone")
        assert stage.api.count("sendMessage") == 2
        assert await stage.house.unsent() == []
        # A message from there proves that the bot is back, though nobody said so.
        stage.api.kicked.clear()
        assert (await stage.say(near_miss, BEN)).receipt is Receipt.REFUSED
        assert (await stage.told())[-1].startswith("⏸️ The game is paused here.")
        await stage.take(membership("member", CHAT))
        await stage.say(near_miss, BEN)
        told = "\n".join(await stage.told())
        assert "🟢 Ben: 560 / 600 (93%)" in told


@pytest.mark.case("T7")
async def test_a_muted_bot_falls_silent_and_a_person_who_blocks_it_pauses_their_room(
    redis: Redis, ready_database_url: str
) -> None:
    async with stage_on(redis, ready_database_url) as stage:
        await stage.say("/newgame fruits")
        await stage.told()
        for may_speak in (False, True):
            change = membership("restricted", CHAT)
            rights = dict.fromkeys(_RIGHTS, may_speak)
            change["my_chat_member"]["new_chat_member"].update(is_member=True, until_date=0, **rights)
            assert (await stage.take(change)).receipt is Receipt.DURABLE
            assert (await the_room(stage)).paused is not may_speak
        private = {"id": BEN["id"], "type": "private", "first_name": "Ben"}
        await stage.say("/newgame fruits", BEN, private)
        await stage.told(BEN["id"])
        await stage.take(membership("kicked", private))
        room = await stage.room(BEN["id"])
        assert room is not None
        assert room.paused
        unknown = await stage.take(membership("kicked", group(-1007)))
        assert unknown.receipt is Receipt.DURABLE


_RIGHTS = (
    *("can_send_messages", "can_send_audios", "can_send_documents", "can_send_photos", "can_send_videos"),
    *("can_send_video_notes", "can_send_voice_notes", "can_send_polls", "can_send_other_messages"),
    *("can_add_web_page_previews", "can_change_info", "can_invite_users", "can_pin_messages", "can_manage_topics"),
    *("can_edit_tag", "can_react_to_messages"),
)


@pytest.mark.case("T8")
async def test_a_topic_that_is_closed_in_mid_round_pauses_and_the_others_go_on(
    redis: Redis, ready_database_url: str
) -> None:
    topic: dict[str, Any] = {"message_thread_id": 7, "is_topic_message": True}
    async with stage_on(redis, ready_database_url) as stage:
        await stage.say("/newgame fruits", **topic)
        await stage.say("/newgame animals")
        await stage.told(GROUP, 7)
        await stage.told()
        round_ = await stage.round(GROUP, 7)
        near_miss = await stage.near_miss(GROUP, 7)
        stage.api.closed.add((GROUP, 7))
        before = stage.api.count("sendMessage")
        await stage.say(near_miss, **topic)

        async def paused() -> bool:
            return (await the_room(stage, 7)).paused

        await wait_until(paused, "the topic's room is paused")
        await wait_until(lambda: _idle(stage), "its jobs are gone")
        assert stage.api.count("sendMessage") == before + 1
        # A reply in General has a thread, and is no topic; thread 1 is General itself.
        await stage.say(await stage.near_miss(), BEN, message_thread_id=33)
        await stage.say(await stage.near_miss(), ANA, message_thread_id=1, is_topic_message=True)
        assert "\n".join(await stage.told()).count("560 / 600") == 2
        stage.api.closed.clear()
        reopened = message("", ANA, CHAT, forum_topic_reopened={}, **topic)
        del reopened["text"]
        assert (await stage.take(update(reopened))).receipt is Receipt.DURABLE
        assert "▶️ On we go!" in (await stage.told(GROUP, 7))[0]
        await stage.say(near_miss, BEN, **topic)
        assert await stage.told(GROUP, 7) == ["🟢 Ben: 560 / 600 (93%)"]
        assert (await stage.round(GROUP, 7)).id == round_.id
