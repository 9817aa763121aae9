"""The intake: order, offsets, receipts, and what it does with an update that fails."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisAway

from bot.intake import Intake
from bot.pace import Pace
from bot.taking import Taking
from engine.game.request import Receipt
from tests.bot.hall import QUICK, Hall, nothing, until_confirmed
from tests.bot.making import ANA, BEN, group, message, private, said, update
from tests.bot.stage import FirstOnes, Stage, stage_on
from tests.waiting import wait_until


async def test_updates_are_confirmed_once_they_have_a_receipt(idle: Stage) -> None:
    gate = asyncio.Event()

    async def behave(text: str) -> None:
        if text == "slow":
            await gate.wait()

    hall = Hall(idle, behave)
    first, slow, last = said("a", ANA), said("slow", BEN, group(-100777)), said("b", ANA)
    idle.api.feed(first, slow, last)
    async with hall.polling():
        await wait_until(lambda: slow["update_id"] in idle.api.offsets, "all before the slow one is confirmed")
        assert hall.done == ["a", "b"]
        asked = len(idle.api.offsets)
        await wait_until(lambda: len(idle.api.offsets) > asked + 3, "it goes on looking")
        assert max(idle.api.offsets) == slow["update_id"]
        gate.set()
        await until_confirmed(idle)
    assert sorted(hall.done) == ["a", "b", "slow"]
    assert sorted(hall.seen) == ["a", "b", "slow"]


async def test_one_chat_goes_in_order_and_chats_go_side_by_side(idle: Stage) -> None:
    gate = asyncio.Event()
    both = asyncio.Event()
    at_work: set[str] = set()

    async def behave(text: str) -> None:
        at_work.add(text)
        if {"a1", "b1"} <= at_work:
            both.set()
        await gate.wait()
        at_work.discard(text)

    hall = Hall(idle, behave)
    for number in range(1, 4):
        idle.api.feed(said(f"a{number}", ANA), said(f"b{number}", BEN, group(-100777)))
    async with hall.polling():
        await asyncio.wait_for(both.wait(), 5)
        assert at_work == {"a1", "b1"}
        gate.set()
        await until_confirmed(idle)
    assert [text for text in hall.done if text[0] == "a"] == ["a1", "a2", "a3"]
    assert [text for text in hall.done if text[0] == "b"] == ["b1", "b2", "b3"]


async def test_no_more_than_so_many_are_in_work(idle: Stage) -> None:
    now = peak = 0

    async def behave(_: str) -> None:
        nonlocal now, peak
        now += 1
        peak = max(peak, now)
        await asyncio.sleep(0)
        now -= 1

    hall = Hall(idle, behave)
    idle.api.feed(*(said(str(number), ANA, group(-100_000 - number)) for number in range(40)))
    async with hall.polling(Pace(look_ms=10, at_once=3)):
        await until_confirmed(idle)
    assert (len(hall.done), peak) == (40, 3)


async def test_a_failed_update_is_tried_again_with_its_chat_behind_it(idle: Stage) -> None:
    failures = 2

    async def behave(text: str) -> None:
        nonlocal failures
        if text == "a1" and failures:
            failures -= 1
            raise LookupError("not yet")

    hall = Hall(idle, behave)
    idle.api.feed(said("a1"), said("a2"), said("b1", BEN, group(-100777)))
    async with hall.polling():
        await until_confirmed(idle)
    assert hall.done.index("a1") < hall.done.index("a2")
    assert hall.seen.count("a1") == 3
    assert hall.seen.count("a2") == hall.seen.count("b1") == 1


async def test_an_update_that_always_fails_is_set_aside_and_blocks_nobody(
    idle: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    async def behave(text: str) -> None:
        if text == "poison":
            raise LookupError("a bug")

    hall = Hall(idle, behave)
    poison = said("poison")
    idle.api.feed(poison, said("a2"), *(said(f"b{number}", BEN, group(-100777)) for number in range(150)))
    async with hall.polling():
        await until_confirmed(idle)
    assert hall.seen.count("poison") == QUICK.attempts
    assert len(hall.done) == 151
    assert "update_set_aside" in capsys.readouterr().out
    async with idle.house.units.read() as work:
        (kept,) = await work.aside.newest(100)
    assert kept.name.startswith(f"{poison['update_id']}-")
    assert (kept.error, kept.attempts) == ("LookupError", QUICK.attempts)


async def test_tries_are_counted_over_a_restart(redis: Redis, ready_sqlite_url: str) -> None:
    async def behave(_: str) -> None:
        raise LookupError("a bug")

    poison = said("poison")
    seen = 0
    async with stage_on(redis, ready_sqlite_url, working=False) as stage:
        stage.api.feed(poison)
        hall = Hall(stage, behave)
        async with hall.polling(replace(QUICK, first_ms=10_000, most_ms=10_000)):
            await wait_until(lambda: hall.seen, "it was tried")
        seen += len(hall.seen)
        assert stage.api.updates, "it is not confirmed"
    async with stage_on(redis, ready_sqlite_url, working=False) as stage:
        stage.api.feed(poison)
        hall = Hall(stage, behave)
        async with hall.polling():
            await until_confirmed(stage)
        seen += len(hall.seen)
    assert seen == QUICK.attempts


async def test_while_a_server_is_away_nothing_is_set_aside(idle: Stage) -> None:
    left = 5 * QUICK.attempts

    async def behave(text: str) -> None:
        nonlocal left
        if text == "guess" and left:
            left -= 1
            raise RedisAway("refused")

    hall = Hall(idle, behave)
    idle.api.feed(said("guess"))
    async with hall.polling():
        await until_confirmed(idle)
    assert hall.done == ["guess"]


async def test_a_handler_that_hangs_is_cut_off_and_tried_again(idle: Stage) -> None:
    hung = 0

    async def behave(_: str) -> None:
        nonlocal hung
        hung += 1
        if hung == 1:
            await asyncio.Event().wait()

    hall = Hall(idle, behave)
    idle.api.feed(said("a"))
    async with hall.polling(Pace(look_ms=10, first_ms=1, update_ms=50)):
        await until_confirmed(idle)
    assert hall.done == ["a"]


async def test_an_update_the_library_cannot_read_stops_none_behind_it(idle: Stage) -> None:
    hall = Hall(idle, nothing)
    broken = update({"message_id": 1})
    idle.api.feed(said("a"), broken, said("b"))
    async with hall.polling():
        await until_confirmed(idle)
    assert hall.done == ["a", "b"]


async def polled(stage: Stage, *updates: dict[str, Any]) -> None:
    """Let an intake take ``updates``, all of them there at its first look."""
    stage.api.feed(*updates)
    stop = asyncio.Event()
    running = asyncio.create_task(Intake(Taking(stage.application, stage.house.units, QUICK)).run(stop))
    await until_confirmed(stage)
    stop.set()
    await asyncio.wait_for(running, 10)


@pytest.mark.case("T20")
async def test_a_guess_right_behind_newgame_is_scored(redis: Redis, ready_sqlite_url: str) -> None:
    async with stage_on(redis, ready_sqlite_url, draw=FirstOnes()) as stage:
        await polled(stage, said("/newgame fruits"), said("🍐🍎🍊🍋🍌🍉"))
        opened, answered = await stage.told()
        assert "Round 1" in opened
        assert answered == "🟢 Ana: 560 / 600 (93%)"


@pytest.mark.case("T20")
async def test_of_two_winning_guesses_the_earlier_accepted_one_wins(redis: Redis, ready_sqlite_url: str) -> None:
    async with stage_on(redis, ready_sqlite_url, working=False, draw=FirstOnes()) as stage:
        await polled(stage, said("/newgame fruits"))
        secret = await stage.secret()
        await polled(stage, said(secret, BEN), said(secret, ANA))
    async with stage_on(redis, ready_sqlite_url) as stage:
        told = await stage.told()
        assert any("🏆 Ben cracked it!" in text for text in told)
        assert not any("🏆 Ana" in text for text in told)
        assert await stage.guesses() == 1, "what came behind the crack does not count"


async def test_a_process_that_died_leaves_its_updates_to_the_next(redis: Redis, ready_sqlite_url: str) -> None:
    """The receipt was left but never confirmed: the update comes again, and counts once."""
    async with stage_on(redis, ready_sqlite_url) as stage:
        await stage.say("/newgame fruits", ANA, private(ANA))
        await stage.told(ANA["id"])
        guess = update(message(await stage.near_miss(ANA["id"]), ANA, private(ANA)))
        assert (await stage.take(guess)).receipt is Receipt.DURABLE
    async with stage_on(redis, ready_sqlite_url) as stage:
        await polled(stage, guess)
        await stage.told(ANA["id"])
        assert await stage.guesses(ANA["id"]) == 1
