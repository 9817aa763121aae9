"""Polling: Telegram's troubles, the stop, and the one process that may poll."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisAway
from structlog.testing import capture_logs

from bot import events
from bot.errors import TokenRefused
from bot.intake import Intake, connect
from bot.pace import Pace
from bot.pulse import Pulse
from bot.taking import Taking
from tests.bot.api import Refusal, flood
from tests.bot.hall import QUICK, Hall, nothing, until_confirmed
from tests.bot.making import said
from tests.bot.stage import Stage, stage_on
from tests.waiting import wait_until

# The library reads its own deprecated attribute as it makes a RetryAfter.
pytestmark = pytest.mark.filterwarnings("ignore:.*retry_after:telegram.warnings.PTBDeprecationWarning")


@pytest.mark.parametrize(
    "fault",
    [
        Refusal(409, "Conflict: terminated by other getUpdates request"),
        httpx.ConnectError("away"),
        httpx.ReadTimeout("slow"),
        Refusal(502, "Bad Gateway"),
        flood(0),
    ],
)
async def test_polling_goes_on_after_any_trouble_of_the_moment(idle: Stage, fault: Exception | Refusal) -> None:
    hall = Hall(idle, nothing)
    idle.api.faults["getUpdates"].extend([fault] * 8)
    idle.api.faults["deleteWebhook"].append(fault)
    idle.api.feed(said("a"))
    async with hall.polling():
        await until_confirmed(idle)
    assert hall.done == ["a"]


async def test_polling_that_works_again_is_told_once(idle: Stage) -> None:
    idle.api.faults["getUpdates"].extend([httpx.ConnectError("away")] * 3)
    idle.api.feed(said("a"))
    with capture_logs() as logs:
        async with Hall(idle, nothing).polling():
            await until_confirmed(idle)
            idle.api.feed(said("b"))
            await until_confirmed(idle)
    assert [line["failures"] for line in logs if line["event"] == events.POLLING_RESUMED] == [3]


@pytest.mark.parametrize(
    "junk", ["junk", 7, {"update_id": 5}, ["x"], [{}], [{"update_id": "5"}], [{"update_id": True}]]
)
async def test_polling_goes_on_after_an_answer_that_is_no_list_of_updates(
    idle: Stage, monkeypatch: pytest.MonkeyPatch, junk: object
) -> None:
    hall = Hall(idle, nothing)
    answers: list[object] = [junk] * 2
    truly = idle.api._getUpdates

    async def answer(parameters: Mapping[str, Any]) -> Any:
        return answers.pop() if answers else await truly(parameters)

    monkeypatch.setattr(idle.api, "_getUpdates", answer)
    idle.api.feed(said("a"))
    async with hall.polling():
        await until_confirmed(idle)
    assert hall.done == ["a"]


async def test_updates_are_taken_after_an_idle_week_when_their_numbers_begin_anew_far_below(idle: Stage) -> None:
    hall = Hall(idle, nothing)
    idle.api.feed({**said("before"), "update_id": 700_000_000})
    async with hall.polling():
        await until_confirmed(idle)
        idle.api.feed({**said("a"), "update_id": 5_000_000}, {**said("b"), "update_id": 5_000_001})
        await until_confirmed(idle)
        idle.api.feed({**said("c"), "update_id": 5_000_002})
        await until_confirmed(idle)
    assert hall.done == ["before", "a", "b", "c"]


async def test_telegram_is_left_alone_for_as_long_as_it_asks(idle: Stage) -> None:
    hall = Hall(idle, nothing)
    idle.api.faults["getUpdates"].append(flood(1))
    idle.api.feed(said("a"))
    began = time.monotonic()
    async with hall.polling():
        await until_confirmed(idle)
    assert time.monotonic() - began >= 1


async def test_a_token_that_telegram_refuses_ends_the_intake(idle: Stage) -> None:
    idle.api.faults["getUpdates"].append(Refusal(401, "Unauthorized"))
    with pytest.raises(TokenRefused) as caught:
        await Intake(Taking(idle.application, idle.house.units, QUICK)).run(asyncio.Event())
    assert "TEST" not in str(caught.value)


async def test_a_stop_finishes_what_was_taken_and_confirms_it(idle: Stage) -> None:
    gate = asyncio.Event()

    async def behave(_: str) -> None:
        await gate.wait()

    hall = Hall(idle, behave)
    idle.api.feed(said("a1"), said("a2"))
    async with hall.polling() as stop:
        await wait_until(lambda: hall.seen, "the first is in work")
        stop.set()
        gate.set()
    assert hall.done == ["a1", "a2"]
    assert not idle.api.updates


async def test_a_stop_leaves_with_telegram_what_fails(idle: Stage) -> None:
    async def behave(text: str) -> None:
        if text == "a2":
            raise RedisAway("refused")

    hall = Hall(idle, behave)
    idle.api.feed(said("a1"), said("a2"), said("a3"))
    async with hall.polling() as stop:
        await wait_until(lambda: "a2" in hall.seen, "the failing one was tried")
        stop.set()
    assert hall.done == ["a1"]
    assert [made["message"]["text"] for made in idle.api.updates] == ["a2", "a3"]


async def test_a_stop_ends_a_long_poll_at_once(idle: Stage) -> None:
    began = time.monotonic()
    async with Hall(idle, nothing).polling(Pace(poll_s=600)) as stop:
        await wait_until(lambda: idle.api.offsets, "it polls")
        stop.set()
    assert time.monotonic() - began < 5


async def test_a_poll_that_finds_nothing_is_answered_at_once_when_polling_begins(idle: Stage) -> None:
    pulse = Pulse()
    async with Hall(idle, nothing).polling(Pace(poll_s=600), pulse=pulse):
        await wait_until(lambda: pulse.age_ms is not None, "a poll was answered, though nobody writes")
        await wait_until(lambda: len(idle.api.offsets) == 2, "the next one waits")


@dataclass
class OneSeat:
    """A lease that a test hands out and takes away."""

    free: asyncio.Event = field(default_factory=asyncio.Event)
    mine: bool = False
    asked: int = 0
    released: int = 0

    async def acquire(self) -> None:
        self.asked += 1
        await self.free.wait()
        self.mine = True

    def held(self) -> bool:
        return self.mine

    async def release(self) -> None:
        self.mine = False
        self.released += 1


async def test_only_the_holder_of_the_lease_polls(idle: Stage) -> None:
    lease = OneSeat()
    hall = Hall(idle, nothing)
    idle.api.feed(said("a"))
    async with hall.polling(lease=lease):
        await wait_until(lambda: lease.asked == 1, "it asks for the lease")
        assert idle.api.offsets == []
        lease.free.set()
        await until_confirmed(idle)
        lease.free.clear()
        lease.mine = False
        idle.api.feed(said("wakes the long poll"))
        await wait_until(lambda: lease.asked == 2, "it gave up polling and asks again")
        asked = len(idle.api.offsets)
        idle.api.feed(said("b"))
        assert len(idle.api.offsets) == asked
        lease.free.set()
        await until_confirmed(idle)
    assert hall.done == ["a", "wakes the long poll", "b"]
    assert lease.released == 2


async def test_connecting_waits_for_telegram(redis: Redis, ready_sqlite_url: str) -> None:
    async with stage_on(redis, ready_sqlite_url, working=False, reads_all=False) as stage:
        await stage.application.shutdown()
        stage.api.faults["getMe"].extend([httpx.ConnectError("away"), Refusal(502, "Bad Gateway"), flood(0)])
        assert await connect(stage.application, asyncio.Event(), pace=QUICK)
        stage.api.faults["getMe"].clear()
        await stage.application.shutdown()
        stage.api.faults["getMe"].append(Refusal(401, "Unauthorized"))
        with pytest.raises(TokenRefused) as caught:
            await connect(stage.application, asyncio.Event(), pace=QUICK)
        assert "TEST" not in str(caught.value)
        stopped = asyncio.Event()
        stopped.set()
        assert not await connect(stage.application, stopped)
