"""Levers reach the lanes whatever broke on the way: a failure after the row was written, a Redis that lost its data."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from engine.game.model import RoundState
from engine.game.request import Receipt
from engine.workers.crew import Crew, CrewSettings
from engine.workers.sweep import Sweep
from tests.waiting import wait_until
from tests.workers.making import House, Recorder, wrong


@asynccontextmanager
async def broken(redis: Redis, key: str) -> AsyncIterator[None]:
    """Have every script that writes ``key`` fail."""
    kept = await redis.dump(key)
    await redis.delete(key)
    await redis.set(key, "of the wrong type")
    yield
    await redis.delete(key)
    if kept is not None:
        await redis.restore(key, 0, kept)


def key_of(product: House, name: str) -> str:
    return f"{product.queues.guesses._keys.base}{name}"


async def test_a_pause_whose_lanes_failed_is_told_them_when_its_message_comes_again(
    product: House, redis: Redis
) -> None:
    _, round_ = await product.open()
    await product.guess(wrong(round_))
    request = product.request()
    async with broken(redis, key_of(product, "paused")):
        with pytest.raises(ResponseError):
            await product.game.levers.pause(request)
    assert await product.game.levers.pause(request) is Receipt.DURABLE
    assert await product.score() == 0


async def test_a_resume_whose_lanes_failed_is_told_them_when_its_message_comes_again(
    product: House, redis: Redis
) -> None:
    _, round_ = await product.open()
    await product.guess(wrong(round_))
    await product.game.levers.pause(product.request())
    request = product.request()
    async with broken(redis, key_of(product, "paused")):
        with pytest.raises(ResponseError):
            await product.game.levers.resume(request)
    assert await product.game.levers.resume(request) is Receipt.DURABLE
    assert await product.score() == 1


async def test_a_limit_whose_lanes_failed_is_told_them_when_its_message_comes_again(
    product: House, redis: Redis
) -> None:
    _, round_ = await product.open()
    request = product.request()
    async with broken(redis, key_of(product, "glimit")):
        with pytest.raises(ResponseError):
            await product.game.levers.limit(request, 2)
    assert await product.game.levers.limit(request, 2) is Receipt.DURABLE
    for number in range(4):
        await product.guess(wrong(round_), f"P{number}")
    assert await product.score() == 2


async def test_a_round_whose_lanes_failed_gets_its_ceiling_when_its_message_comes_again(
    product: House, redis: Redis
) -> None:
    request = product.request()
    async with broken(redis, key_of(product, "glimit")):
        with pytest.raises(ResponseError):
            await product.game.rounds.open(request, "fruits", 10)
    assert await product.game.rounds.open(request, "fruits", 10) is Receipt.DURABLE
    _, round_ = await product.current()
    for number in range(12):
        await product.guess(wrong(round_), f"P{number}")
    assert await product.score() == product.world.default_ceiling


async def test_ending_a_paused_round_scores_what_it_kept_though_the_lanes_failed_first(
    product: House, redis: Redis
) -> None:
    _, round_ = await product.open()
    await product.guess(wrong(round_))
    await product.game.levers.pause(product.request())
    request = product.request()
    async with broken(redis, key_of(product, "paused")):
        with pytest.raises(ResponseError):
            await product.game.rounds.end(request)
    assert await product.game.rounds.end(request) is Receipt.DURABLE
    assert await product.score() == 1


async def test_a_command_that_comes_again_late_undoes_nothing(product: House) -> None:
    _, round_ = await product.open()
    await product.guess(wrong(round_))
    pausing, resuming = product.request(), product.request()
    await product.game.levers.pause(pausing)
    await product.game.levers.resume(resuming)
    await product.game.levers.pause(pausing)
    assert await product.score() == 1
    room, _ = await product.current()
    assert not room.paused


async def test_a_redis_that_lost_its_data_hears_the_levers_again(product: House, redis: Redis) -> None:
    _, round_ = await product.open()
    paused, _ = await product.open(chat=-200)
    await product.game.levers.limit(product.request(), 2)
    await product.game.levers.pause(product.request(chat=-200))
    sweep = Sweep(product.world, every_ms=1)
    await sweep.once(grace_ms=1)
    await redis.flushall()
    await sweep.once(grace_ms=1)
    for number in range(4):
        await product.guess(wrong(round_), f"P{number}")
    assert await product.score() == 2
    assert await redis.sismember(key_of(product, "paused"), paused.id)


async def test_a_game_goes_on_and_ends_after_redis_lost_its_data(product: House, redis: Redis) -> None:
    messenger = Recorder()
    stop = asyncio.Event()
    crew = Crew(product.world, product.queues, messenger, CrewSettings(sweep_ms=50))
    running = asyncio.create_task(crew.run(stop))
    _, round_ = await product.open()
    await product.guess(wrong(round_))
    await wait_until(lambda: "answer" in [n.kind for n in messenger.notices], "the first guess is answered")
    await redis.flushall()
    await product.guess(round_.secret, "Ben")
    await wait_until(lambda: "round_revealed" in [n.kind for n in messenger.notices], "the round is revealed")
    stop.set()
    await asyncio.wait_for(running, 10)
    _, settled = await product.current()
    assert settled.state is RoundState.SETTLED
    assert sorted(notice.kind for notice in messenger.notices) == ["answer", "answer", "round_opened", "round_revealed"]
