"""What the bot says arrives once, in order and within Telegram's budget, whatever Telegram and processes do."""

from __future__ import annotations

import asyncio
import itertools
import signal
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from redis.asyncio import Redis
from telegram.error import TimedOut

from bot.budget import Limits
from engine.game.model import Room
from engine.game.request import Receipt
from tests.bot.api import FakeApi, Refusal, flood
from tests.bot.dying import INSTANTS
from tests.bot.making import ANA, BEN, GROUP, group, message, person, update
from tests.bot.stage import Stage, stage_on
from tests.bot.test_moving_chats import membership
from tests.lanes.sizes import scaled
from tests.waiting import wait_until

# The library reads its own deprecated attribute as it makes a RetryAfter.
pytestmark = pytest.mark.filterwarnings("ignore:.*retry_after:telegram.warnings.PTBDeprecationWarning")

OTHER = -1005
CHAT = group()


def now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


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


def timed_out() -> TimedOut:
    error = TimedOut()
    error.__cause__ = httpx.ReadTimeout("stalled")
    return error


@pytest.mark.case("T12")
async def test_a_send_that_timed_out_and_had_arrived_is_not_sent_again(redis: Redis, ready_database_url: str) -> None:
    def stall(api: FakeApi) -> None:
        api.late["sendMessage"].append(timed_out())

    async with stage_on(redis, ready_database_url, prepare=stall) as stage:
        await stage.say("/newgame fruits")
        assert len(await stage.told()) == 1
        await stage.say(await stage.near_miss())
        assert await stage.told() == ["🟢 Ana: 560 / 600 (93%)"]
    async with stage_on(redis, ready_database_url) as stage:
        assert await stage.told() == []


@pytest.mark.case("T13")
async def test_a_429_holds_its_chat_for_as_long_as_it_asked_and_nobody_else(
    redis: Redis, ready_database_url: str
) -> None:
    async with stage_on(redis, ready_database_url) as stage:
        stage.api.faults["sendMessage"].append(flood(5))
        began_ms = now_ms()
        await stage.say("/newgame fruits")
        await wait_until(lambda: stage.api.count("sendMessage") == 1, "the first try")
        tried_ms = now_ms()
        await stage.say("/newgame animals", ANA, group(OTHER))
        near_miss = await stage.near_miss(OTHER)
        for _ in range(3):
            await stage.say(near_miss, BEN, group(OTHER))
            await stage.say(await stage.near_miss())
        await wait_until(lambda: stage.api.texts(GROUP), "the chat's turn")
        first = next(sent for sent in stage.api.sent if sent.chat == GROUP)
        assert first.at_ms - began_ms >= 5_000
        assert first.at_ms - tried_ms < 6_500
        others = [sent.at_ms for sent in stage.api.sent if sent.chat == OTHER]
        assert others[0] - began_ms < 5_000, "another chat goes on meanwhile"
        opened, answers = await stage.told()
        assert "Round 1" in opened
        assert answers.count("560 / 600") == 3
        to_it = [call for name, call in stage.api.calls if name == "sendMessage" and call["chat_id"] == GROUP]
        assert len(to_it) == 3


@pytest.mark.case("T14")
async def test_two_hundred_guesses_in_ten_seconds_are_all_answered_in_few_messages(
    redis: Redis, ready_database_url: str
) -> None:
    over_ms = scaled(1_000, 10_000)
    async with stage_on(redis, ready_database_url, limits=Limits()) as stage:
        await stage.say("/newgame fruits")
        near_miss = await stage.near_miss()
        began_ms = now_ms()
        for number in range(200):
            due_ms = began_ms + number * over_ms // 200
            await asyncio.sleep(max(0, due_ms - now_ms()) / 1000)  # the pace is what is tested
            slip = await stage.say(near_miss, person(100 + number % 20, f"Player{number % 20:02}"))
            assert slip.receipt is Receipt.DURABLE

        def answers() -> str:
            return "\n".join(stage.api.history)

        await wait_until(lambda: answers().count("560") == 200, "everybody is answered", 60_000)
        assert await stage.guesses() == 200
        assert all(f"Player{number:02}" in answers() for number in range(20))
        sent = [each.at_ms for each in stage.api.sent]
        assert len(sent) <= 20
        assert all(later - earlier >= 3_000 for earlier, later in itertools.pairwise(sent))


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


async def test_while_telegram_is_away_answers_wait_in_order_and_are_combined(
    redis: Redis, ready_database_url: str
) -> None:
    async with stage_on(redis, ready_database_url) as stage:
        await stage.say("/newgame fruits")
        await stage.told()
        near_miss = await stage.near_miss()
        stage.api.faults["sendMessage"].append(Refusal(502, "Bad Gateway"))
        for number in range(6):
            await stage.say(near_miss, person(100 + number, f"Player{number}"))
        (told,) = await stage.told()
        assert [line.split(":")[0][2:] for line in told.splitlines()] == [f"Player{number}" for number in range(6)]


@pytest.mark.case("T16")
@pytest.mark.parametrize("instant", INSTANTS)
async def test_a_worker_killed_between_commit_and_answer_scores_once_and_answers_once(
    redis: Redis, redis_url: str, ready_database_url: str, instant: str
) -> None:
    async with stage_on(redis, ready_database_url) as stage:
        await stage.say("/newgame fruits")
        await stage.told()
        near_miss = await stage.near_miss()
    async with stage_on(redis, ready_database_url, working=False) as stage:
        await stage.say(near_miss)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.bot.dying", instant, redis_url, ready_database_url),
        cwd=Path(__file__).parents[2],
    )
    assert await process.wait() == -signal.SIGKILL
    async with stage_on(redis, ready_database_url, working=False) as stage:
        assert await stage.guesses() == 1
        assert len(await stage.house.answers()) == 1
        assert stage.api.sent == []
    async with stage_on(redis, ready_database_url) as stage:
        assert await stage.told() == ["🟢 Ana: 560 / 600 (93%)"]
        assert await stage.guesses() == 1
        assert await stage.house.unsent() == []
