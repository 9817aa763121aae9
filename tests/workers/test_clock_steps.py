"""Clocks that are set by a day, in either direction: rounds end when they should, and nothing is lost or left out."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from engine.game.model import CloseReason, Round, RoundState
from engine.game.notices import RoundRevealed
from engine.game.settling import Later, Settling
from engine.workers import events
from engine.workers.adapters import RoomLanes
from engine.workers.clock import ServerClock
from engine.workers.sweep import Sweep
from tests.lanes.steps import server_ms
from tests.waiting import wait_until
from tests.workers.making import House, wrong

DAY_MS = 86_400_000
SOON_MS = 5_000
STEPS = pytest.mark.parametrize("step_ms", [DAY_MS, -DAY_MS])


def set_host_clock(monkeypatch: pytest.MonkeyPatch, step_ms: int) -> None:
    """Set this host's wall clock, as an operator or NTP does; the monotonic one goes on."""
    right, right_ns = time.time, time.time_ns
    monkeypatch.setattr(time, "time", lambda: right() + step_ms / 1_000)
    monkeypatch.setattr(time, "time_ns", lambda: right_ns() + step_ms * 1_000_000)


@asynccontextmanager
async def by_the_server(product: House, redis: Redis) -> AsyncIterator[House]:
    async with ServerClock.of(redis) as clock:
        assert isinstance(product.world.lanes, RoomLanes)
        world = replace(product.world, now_ms=clock, lanes=replace(product.world.lanes, now_ms=clock))
        yield replace(product, world=world, game=type(product.game).on(world))


@STEPS
async def test_a_host_s_clock_that_is_set_moves_no_deadline(
    product: House, redis: Redis, monkeypatch: pytest.MonkeyPatch, step_ms: int
) -> None:
    async with by_the_server(product, redis) as house:
        _, opened = await house.open(minutes=10)
        set_host_clock(monkeypatch, step_ms)
        await Sweep(house.world, every_ms=1).once(grace_ms=1)
        outcome = await Settling(house.world).settle(opened.id)
        assert isinstance(outcome, Later)
        assert 600_000 - SOON_MS < outcome.delay_ms <= 600_000
        _, round_ = await house.current()
        assert (round_.state, round_.deadline_ms) == (RoundState.OPEN, opened.deadline_ms)
        await house.game.levers.pause(house.request())
        await house.game.levers.resume(house.request())
        _, resumed = await house.current()
        assert resumed.deadline_ms is not None
        assert opened.deadline_ms is not None
        assert 0 <= resumed.deadline_ms - opened.deadline_ms < SOON_MS


@STEPS
async def test_hosts_whose_clocks_differ_by_a_day_tell_the_same_time(
    redis: Redis, monkeypatch: pytest.MonkeyPatch, step_ms: int
) -> None:
    async with ServerClock.of(redis) as one:
        set_host_clock(monkeypatch, step_ms)
        async with ServerClock.of(redis) as other:
            assert abs(one() - other()) < SOON_MS
            assert abs(one() - await server_ms(redis)) < SOON_MS


@STEPS
async def test_a_server_s_clock_that_is_set_is_followed_and_told(step_ms: int) -> None:
    server = {"now_ms": 1_000_000_000}

    async def ask() -> int:
        return server["now_ms"]

    with capture_logs() as logs:
        async with ServerClock(ask, every_s=0.005) as clock:
            server["now_ms"] += step_ms
            await wait_until(lambda: abs(clock() - server["now_ms"]) < SOON_MS, "it is followed")
    assert [entry["event"] for entry in logs] == [events.CLOCK_STEPPED]
    assert abs(logs[0]["by_ms"] - step_ms) < SOON_MS


async def test_a_clock_goes_on_while_its_server_is_away() -> None:
    asked: list[int] = []

    async def ask() -> int:
        asked.append(1)
        if len(asked) > 1:
            raise OSError("away")
        return 1_000_000_000

    async with ServerClock(ask, every_s=0.001) as clock:
        await wait_until(lambda: len(asked) > 3, "it asked again")
        assert 0 <= clock() - 1_000_000_000 < SOON_MS


async def test_a_clock_that_nobody_has_set_tells_no_time(redis: Redis) -> None:
    with pytest.raises(RuntimeError, match="enter the ServerClock first"):
        ServerClock.of(redis)()


async def test_a_clock_set_back_by_a_day_gives_an_open_round_no_more_than_its_minutes(product: House) -> None:
    _, opened = await product.open(minutes=10)
    assert opened.deadline_ms is not None
    product.clock.ahead_ms = -DAY_MS
    await Sweep(product.world, every_ms=1).once(grace_ms=1)
    _, round_ = await product.current()
    assert round_.deadline_ms is not None
    assert 600_000 - SOON_MS < round_.deadline_ms - product.clock() <= 600_000
    product.clock.ahead_ms += 600_001
    await Sweep(product.world, every_ms=1).once(grace_ms=1)
    assert isinstance(await Settling(product.world).settle(opened.id), Round)


async def test_a_pause_over_a_clock_set_back_keeps_no_more_than_the_round_s_minutes(product: House) -> None:
    await product.open(minutes=10)
    product.clock.ahead_ms = -DAY_MS
    await product.game.levers.pause(product.request())
    _, round_ = await product.current()
    assert round_.remaining_ms == 600_000


async def test_a_clock_set_forward_by_a_day_ends_the_round_with_every_guess_that_was_accepted(product: House) -> None:
    _, opened = await product.open(minutes=10)
    await product.guess(wrong(opened), "Ana")
    await product.guess(opened.secret, "Ben")
    product.clock.ahead_ms = DAY_MS
    await Sweep(product.world, every_ms=1).once(grace_ms=1)
    assert isinstance(await Settling(product.world).settle(opened.id), Later), "two guesses are still to be scored"
    assert await product.score() == 2
    assert isinstance(await Settling(product.world).settle(opened.id), Round)
    (reveal,) = [notice for notice in await product.unsent() if isinstance(notice, RoundRevealed)]
    assert reveal.winner is not None
    assert [line.best_total for line in reveal.lines] == [600, 400]


async def test_guesses_accepted_before_the_server_s_clock_was_set_back_still_count(
    product: House, redis: Redis
) -> None:
    """Their seqs are a day ahead of the server's clock, and the deadline comes by that clock."""
    _, opened = await product.open(minutes=10)
    ahead = (await server_ms(redis) + DAY_MS) * 1_000
    await redis.hset("emq:{cm}:state", "clock", ahead)
    await product.guess(opened.secret, "Ana")
    product.clock.ahead_ms = 600_001
    assert isinstance(await Settling(product.world).settle(opened.id), Later), "Ana's guess is still to be scored"
    assert await product.score() == 1
    assert isinstance(await Settling(product.world).settle(opened.id), Round)
    _, settled = await product.current()
    assert (settled.close_reason, settled.winner is not None) == (CloseReason.EXPIRED, True)


async def test_a_deadline_that_passed_while_everything_was_down_is_found_by_the_first_sweep(
    product: House, redis: Redis
) -> None:
    _, opened = await product.open(minutes=1)
    await redis.flushall()
    product.clock.ahead_ms = 3_600_000
    await Sweep(product.world, every_ms=1).once(grace_ms=0)
    (job,) = await product.queues.settlements.claim(16)
    assert job.payload == opened.id.encode()
    assert isinstance(await Settling(product.world).settle(opened.id), Round)


async def test_a_pause_outlives_a_restart_of_everything_with_the_time_the_round_had(
    product: House, redis: Redis
) -> None:
    _, opened = await product.open(minutes=10)
    await product.game.levers.pause(product.request())
    await redis.flushall()
    product.clock.ahead_ms = 3_600_000
    await Sweep(product.world, every_ms=1).once(grace_ms=0)
    assert await product.queues.settlements.claim(16) == []
    await product.game.levers.resume(product.request())
    outcome = await Settling(product.world).settle(opened.id)
    assert isinstance(outcome, Later)
    assert 600_000 - SOON_MS < outcome.delay_ms <= 600_000
