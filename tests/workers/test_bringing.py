"""The lanes end at what the rows say, whatever comes late, twice or at once, and whatever Redis forgot."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from redis.asyncio import Redis

from engine.game.model import Room
from engine.game.operators import Operators
from engine.game.request import Receipt
from engine.workers.adapters import RoomLanes
from engine.workers.sweep import Sweep
from tests.workers.levers import flood, lever, told
from tests.workers.making import CEILING, House


@dataclass(frozen=True)
class Late(RoomLanes):
    """Lanes whose pulls arrive late: each waits for the gate."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    async def pull(self, rooms: Sequence[Room]) -> None:
        self.asked.set()
        await self.gate.wait()
        await RoomLanes.pull(self, rooms)

    async def pause_all(self, *, paused: bool) -> None:
        self.asked.set()
        await self.gate.wait()
        await RoomLanes.pause_all(self, paused=paused)


async def test_a_pull_that_arrives_late_does_not_undo_a_later_change(product: House, redis: Redis) -> None:
    room, _ = await product.open()
    late = Late(product.queues.guesses, redis, CEILING, product.clock)
    slow = asyncio.create_task(Operators(replace(product.world, lanes=late)).set(room.id, {"weight": 2}))
    await late.asked.wait()
    await product.game.operators.set(room.id, {"weight": 5})
    late.gate.set()
    await slow
    assert await lever(redis, product, "gweight", room.id) == b"5"


async def test_levers_pulled_at_the_same_moment_end_as_the_rows_do(product: House, redis: Redis) -> None:
    room, _ = await product.open()
    operators = product.game.operators
    await operators.change_plan("gold", {"weight": 2})
    await asyncio.gather(
        *(operators.set(room.id, {"weight": number}) for number in range(1, 9)),
        *(operators.set(room.id, {"cap": number}) for number in range(1, 9)),
        operators.give(room.id, "gold"),
        operators.pause(room.id),
        *(operators.change_plan("gold", {"ceiling": number}) for number in range(1, 9)),
        product.game.levers.limit(product.request(), 3),
    )
    stands: Room = (await product.current())[0]
    force = stands.in_force(CEILING)
    assert await told(redis, product, room.id) == (
        str(force.weight).encode(),
        str(force.ceiling).encode(),
        f"{force.cap}".encode(),
    )
    assert stands.paused


async def test_a_redis_that_lost_its_data_is_told_every_lever_again_while_workers_run(
    product: House, redis: Redis
) -> None:
    room, _ = await product.open()
    await product.game.operators.change_plan("gold", {"weight": 3, "ceiling": 20, "cap": 9})
    await product.game.operators.give(room.id, "gold")
    await product.game.operators.hold(room.id, 3_600_000)
    sweep = Sweep(product.world, every_ms=1)
    await sweep.once(grace_ms=1)
    await redis.flushall()
    await sweep.once(grace_ms=1)
    assert await told(redis, product, room.id) == (b"3", b"20", b"9")
    await flood(product, 1)
    assert await product.queues.guesses.claim(1) == []


async def test_a_sweep_that_finds_the_levers_told_leaves_them_alone(product: House, redis: Redis) -> None:
    room, _ = await product.open()
    sweep = Sweep(product.world, every_ms=1)
    await sweep.once(grace_ms=1)
    await product.queues.guesses.limit(room.id, 77)
    await sweep.once(grace_ms=1)
    assert await lever(redis, product, "glimit", room.id) == b"77"


async def test_a_chat_s_command_that_comes_again_is_told_to_the_lanes_again(product: House, redis: Redis) -> None:
    """Whoever took it first may have ended between the commit and the lanes."""
    room, _ = await product.open()
    request = product.request()
    await product.game.levers.limit(request, 2)
    await product.queues.guesses.limit(room.id, None)
    assert await product.game.levers.limit(request, 2) is Receipt.DURABLE
    assert await lever(redis, product, "glimit", room.id) == b"2"


async def all_paused(product: House) -> bool:
    return (await product.queues.guesses.stats(0)).all_paused


async def test_a_pause_of_all_rooms_is_kept_where_redis_loses_its_data(product: House, redis: Redis) -> None:
    await product.open()
    sweep = Sweep(product.world, every_ms=1)
    since_ms = await product.game.operators.pause_all()
    await sweep.once(grace_ms=1)
    await redis.flushall()
    await flood(product, 1)
    await sweep.once(grace_ms=1)
    assert await product.queues.guesses.claim(1) == []
    assert await product.game.operators.pause_all() == since_ms
    await product.game.operators.resume_all()
    assert len(await product.queues.guesses.claim(1)) == 1
    await redis.flushall()
    await sweep.once(grace_ms=1)
    assert not await all_paused(product)


async def test_a_redis_put_back_with_a_pause_that_has_ended_is_resumed(product: House) -> None:
    await product.queues.guesses.pause_all()
    await Sweep(product.world, every_ms=1).once(grace_ms=1)
    assert not await all_paused(product)


async def test_a_repair_tells_the_pause_of_all_rooms_again(product: House, redis: Redis) -> None:
    await product.game.operators.pause_all()
    await redis.delete("emq:{cm}:state")
    await product.game.operators.tell_again()
    assert await all_paused(product)


async def test_a_pause_of_all_rooms_that_arrives_late_does_not_undo_their_resumption(
    product: House, redis: Redis
) -> None:
    late = Late(product.queues.guesses, redis, CEILING, product.clock)
    slow = asyncio.create_task(Operators(replace(product.world, lanes=late)).pause_all())
    await late.asked.wait()
    await product.game.operators.resume_all()
    late.gate.set()
    await slow
    assert not await all_paused(product)


async def test_rooms_paused_by_themselves_stay_so_when_all_are_resumed(product: House) -> None:
    room, _ = await product.open(chat=-1)
    other, _ = await product.open(chat=-2)
    for chat in (-1, -2):
        await flood(product, 1, chat=chat)
    await product.game.operators.pause(room.id)
    await product.game.operators.pause_all()
    assert (await product.current(-2))[1].deadline_ms is not None
    await product.game.operators.resume_all()
    assert [job.group for job in await product.queues.guesses.claim(9)] == [other.id]
