"""Posts of Telegram through the real Application: 200 on a receipt or once set aside, else 503."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisAway

from bot.embedded import EmbeddedValkey
from bot.pace import Pace
from engine.store.aside import AsideUpdate
from tests.bot.hall import Hall, nothing
from tests.bot.making import ANA, BEN, group, said
from tests.bot.posting import porch
from tests.bot.stage import Stage, stage_on
from tests.waiting import wait_until

TRIES = Pace(attempts=3)


async def aside(stage: Stage) -> list[AsideUpdate]:
    async with stage.house.units.read() as work:
        return await work.aside.newest(100)


async def test_a_round_is_played_by_posts(stage: Stage) -> None:
    async with porch(stage) as telegram:
        assert (await telegram.post(said("/newgame fruits"))).status_code == 200
        assert (await telegram.post(said(await stage.near_miss()))).status_code == 200
        assert (await telegram.post(said("good morning"))).status_code == 200
    opened, answered = await stage.told()
    assert "Round 1" in opened
    assert "560 / 600" in answered


@pytest.mark.case("T15")
async def test_the_same_post_twice_at_once_and_after_a_restart_is_one_guess(
    redis: Redis, ready_sqlite_url: str
) -> None:
    async with stage_on(redis, ready_sqlite_url) as stage, porch(stage) as telegram:
        newgame = said("/newgame fruits")
        answers = await asyncio.gather(*(telegram.post(newgame) for _ in range(4)))
        guess = said(await stage.near_miss())
        answers += await asyncio.gather(*(telegram.post(guess) for _ in range(8)))
        assert {answer.status_code for answer in answers} == {200}
        told = await stage.told()
        assert len([text for text in told if "560 / 600" in text]) == 1
        assert len([text for text in told if "Round 1" in text]) == 1
    async with stage_on(redis, ready_sqlite_url) as stage, porch(stage) as telegram:
        assert [(await telegram.post(each)).status_code for each in (newgame, guess)] == [200, 200]
        assert await stage.told() == []
        assert await stage.guesses() == 1


async def test_what_has_no_receipt_is_answered_503_and_works_when_it_comes_again(idle: Stage) -> None:
    away = True

    async def behave(_: str) -> None:
        if away:
            raise RedisAway("refused")

    hall = Hall(idle, behave)
    hall.listen()
    async with porch(idle, TRIES) as telegram:
        update = said("a")
        for _ in range(2 * TRIES.attempts):
            refused = await telegram.post(update)
            assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        away = False
        assert (await telegram.post(update)).status_code == 200
    assert hall.done == ["a"]
    assert await aside(idle) == []


async def test_while_the_lanes_are_away_nothing_is_acknowledged(
    valkey: EmbeddedValkey, redis: Redis, ready_sqlite_url: str
) -> None:
    async with stage_on(redis, ready_sqlite_url, working=False) as stage, porch(stage) as telegram:
        assert (await telegram.post(said("/newgame fruits"))).status_code == 200
        guess = said(await stage.near_miss())
        await redis.config_set("maxmemory", 1)
        await redis.config_set("maxmemory-policy", "noeviction")
        try:
            assert (await telegram.post(guess)).status_code == 503
        finally:
            await redis.config_set("maxmemory", 0)
        assert valkey.pid is not None
        assert (await telegram.post(guess)).status_code == 200
        room = await stage.room()
        assert room is not None
        assert await stage.house.queues.guesses.depth(room.id) == 1
        assert await aside(stage) == []


async def test_one_that_always_fails_is_set_aside_over_redeliveries_and_restarts(
    redis: Redis, ready_sqlite_url: str
) -> None:
    poison = said("poison")

    async def behave(text: str) -> None:
        if text == "poison":
            raise LookupError("a bug")

    statuses: list[int] = []
    for _ in range(TRIES.attempts):
        async with stage_on(redis, ready_sqlite_url, working=False) as stage, porch(stage, TRIES) as telegram:
            Hall(stage, behave).listen()
            statuses.append((await telegram.post(poison)).status_code)
            assert (await telegram.post(said("behind it"))).status_code == 200
    assert statuses == [503, 503, 200]
    async with stage_on(redis, ready_sqlite_url, working=False) as stage, porch(stage, TRIES) as telegram:
        (kept,) = await aside(stage)
        assert kept.name.startswith(f"{poison['update_id']}-")
        assert (kept.kind, kept.error) == ("message", "LookupError")
        assert kept.attempts == TRIES.attempts
        assert '"poison"' in kept.body
        Hall(stage, behave).listen()
        assert (await telegram.post(poison)).status_code == 200, "its acknowledgement was lost: it is aside already"


async def test_one_that_fails_and_then_works_begins_anew(idle: Stage) -> None:
    broken = True

    async def behave(_: str) -> None:
        if broken:
            raise LookupError("a bug")

    Hall(idle, behave).listen()
    async with porch(idle, TRIES) as telegram:
        update = said("a")
        for _ in range(3):
            broken = True
            assert [(await telegram.post(update)).status_code for _ in range(2)] == [503, 503]
            broken = False
            assert (await telegram.post(update)).status_code == 200


async def test_a_handler_that_hangs_is_cut_off_and_counted(idle: Stage) -> None:
    async def behave(text: str) -> None:
        if text == "hangs":
            await asyncio.Event().wait()

    Hall(idle, behave).listen()
    async with porch(idle, Pace(attempts=2, update_ms=50)) as telegram:
        update = said("hangs")
        assert [(await telegram.post(update)).status_code for _ in range(2)] == [503, 200]
        assert (await telegram.post(said("goes on"))).status_code == 200
    (kept,) = await aside(idle)
    assert kept.error == "UpdateTookTooLong"


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"[]", b"7", b'"x"', b"{}", b"\xff\xfe{}", b"[" * 100_000),
        *(b'{"update_id": true}', b'{"update_id": "1"}', b'{"update_id": -1}'),
        b'{"update_id": ' + b"9" * 5_000 + b"}",
    ],
)
async def test_what_can_never_be_read_is_set_aside_at_once(idle: Stage, body: bytes) -> None:
    async with porch(idle) as telegram:
        assert (await telegram.post(body)).status_code == 200
    (kept,) = await aside(idle)
    assert (kept.kind, kept.error) == ("unreadable", "Unreadable")
    assert kept.body == body[:65_536].decode(errors="replace")


async def test_an_update_the_library_cannot_read_is_set_aside_at_once(idle: Stage) -> None:
    async with porch(idle) as telegram:
        assert (await telegram.post({"update_id": 7, "message": {"message_id": 1}})).status_code == 200
    (kept,) = await aside(idle)
    assert kept.name.startswith("7-")
    assert (kept.kind, kept.attempts) == ("unreadable", 1)


async def test_a_new_update_that_reuses_the_number_of_one_set_aside_has_tries_of_its_own(idle: Stage) -> None:
    async def behave(_: str) -> None:
        raise LookupError("a bug")

    Hall(idle, behave).listen()
    first, second = ({**said(text), "update_id": 77} for text in ("first", "second"))
    async with porch(idle, TRIES) as telegram:
        for update in (first, second):
            statuses = [(await telegram.post(update)).status_code for _ in range(TRIES.attempts)]
            assert statuses == [503, 503, 200]
        assert (await telegram.post(dict(reversed(first.items())))).status_code == 200, "it is the same in any order"
    assert [(kept.name[:3], kept.attempts) for kept in await aside(idle)] == [("77-", 4), ("77-", 3)]


async def test_a_kind_of_update_that_nobody_knows_is_passed_over(idle: Stage) -> None:
    async with porch(idle) as telegram:
        assert (await telegram.post({"update_id": 7, "from_the_future": {"x": 1}})).status_code == 200
    assert await aside(idle) == []


async def test_beyond_so_many_in_work_posts_are_asked_to_come_again_at_once(idle: Stage) -> None:
    gate = asyncio.Event()

    async def behave(_: str) -> None:
        await gate.wait()

    hall = Hall(idle, behave)
    hall.listen()
    async with porch(idle, Pace(posts_at_once=3)) as telegram:
        within = [asyncio.create_task(telegram.post(said(str(n), ANA, group(-100 - n)))) for n in range(3)]
        await wait_until(lambda: len(hall.seen) == 3, "three are in work")
        refused = await telegram.post(said("one more", BEN))
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        gate.set()
        assert [each.status_code for each in await asyncio.gather(*within)] == [200] * 3
        assert (await telegram.post(said("now", BEN))).status_code == 200


async def test_a_stop_finishes_what_is_in_work_and_takes_no_more(idle: Stage) -> None:
    gate = asyncio.Event()

    async def behave(_: str) -> None:
        await gate.wait()

    hall = Hall(idle, behave)
    hall.listen()
    async with porch(idle) as telegram:
        within = asyncio.create_task(telegram.post(said("a")))
        await wait_until(lambda: hall.seen, "it is in work")
        closing = asyncio.create_task(telegram.endpoint.close())
        await wait_until(lambda: not telegram.endpoint.is_open, "it closes")
        assert (await telegram.post(said("b", BEN))).status_code == 503
        assert not closing.done()
        gate.set()
        assert (await within).status_code == 200
        await asyncio.wait_for(closing, 5)
    assert hall.done == ["a"]


async def test_the_pulse_tells_failing_posts_from_none(idle: Stage) -> None:
    fault: Exception | None = RedisAway("refused")

    async def behave(_: str) -> None:
        if fault is not None:
            raise fault

    Hall(idle, behave).listen()
    async with porch(idle) as telegram:
        pulse: Any = telegram.taking.pulse
        assert pulse.failing_ms == 0
        await telegram.post(said("a"))
        await wait_until(lambda: pulse.failing_ms > 0, "its failing shows")
        fault = None
        await telegram.post(said("a"))
        assert pulse.failing_ms == 0


async def test_a_post_is_taken_whether_or_not_it_says_its_length(idle: Stage) -> None:
    hall = Hall(idle, nothing)
    hall.listen()
    async with porch(idle) as telegram:

        async def in_pieces() -> Any:
            yield b'{"update_id": 1, "message": {"message_id": 1, "date": 1, "text": "in '
            yield b'pieces", "chat": {"id": 5, "type": "private"}}}'

        headers = {"X-Telegram-Bot-Api-Secret-Token": "a-secret_between-two", "Content-Type": "application/json"}
        answer = await telegram.client.post("/telegram", content=in_pieces(), headers=headers)
    assert answer.status_code == 200
    assert hall.done == ["in pieces"]
