"""What the bot says arrives once, in order and within Telegram's budget, whatever Telegram and processes do."""

from __future__ import annotations

import asyncio
import itertools
import signal
import sys
import time
from functools import partial
from pathlib import Path

import httpx
import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs
from telegram.error import TimedOut

from bot.budget import Limits
from engine.game.request import Receipt
from engine.workers import events
from tests.bot.api import FakeApi, Refusal, flood
from tests.bot.dying import INSTANTS
from tests.bot.making import ANA, BEN, GROUP, group, person
from tests.bot.stage import Stage, stage_on
from tests.lanes.sizes import scaled
from tests.waiting import wait_until

# The library reads its own deprecated attribute as it makes a RetryAfter.
pytestmark = pytest.mark.filterwarnings("ignore:.*retry_after:telegram.warnings.PTBDeprecationWarning")

OTHER = -1005
CHAT = group()


def now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


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


@pytest.mark.case("T14")
async def test_a_group_hears_no_more_than_twenty_messages_a_minute_even_where_no_gap_parts_them(
    redis: Redis, ready_database_url: str
) -> None:
    limits = Limits(group_gap_ms=0)
    async with stage_on(redis, ready_database_url, limits=limits) as stage:
        await stage.say("/newgame fruits")
        near_miss = await stage.near_miss()
        for number in range(1, limits.group_calls_a_minute):
            await wait_until(partial(_said, stage, number), "what was said before arrives")
            await stage.say(near_miss)
        await wait_until(partial(_said, stage, limits.group_calls_a_minute), "the minute's last message")
        with capture_logs() as logs:
            await stage.say(near_miss)
            await wait_until(lambda: [it for it in logs if it["event"] == events.PUT_OFF], "the next one is put off")
        assert len(stage.api.sent) == limits.group_calls_a_minute


def _said(stage: Stage, messages: int) -> bool:
    return len(stage.api.sent) == messages


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
            # Guesses of different players that are scored at the same time have no order.
            await wait_until(partial(_scored, stage, number + 1), "it is scored")
        (told,) = await stage.told()
        assert [line.split(":")[0][2:] for line in told.splitlines()] == [f"Player{number}" for number in range(6)]


async def _scored(stage: Stage, guesses: int) -> bool:
    return await stage.guesses() == guesses


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
