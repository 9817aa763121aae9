"""What the lanes have of rooms' levers, for tests of what operators do."""

from __future__ import annotations

from redis.asyncio import Redis

from engine.game.request import Receipt
from tests.workers.making import House, wrong


async def lever(redis: Redis, product: House, hash_: str, room: str) -> bytes | None:
    """What the lanes have of a room's lever."""
    value = await redis.hget(f"emq:{{{product.queues.guesses.queue}}}:{hash_}", room)
    assert value is None or isinstance(value, bytes)
    return value


async def told(redis: Redis, product: House, room: str) -> tuple[bytes | None, ...]:
    return tuple([await lever(redis, product, hash_, room) for hash_ in ("gweight", "glimit", "gcap")])


async def flood(product: House, count: int, *, chat: int = -100) -> None:
    _, round_ = await product.current(chat)
    for number in range(count):
        assert await product.guess(wrong(round_), f"P{number % 4}", chat=chat) is Receipt.DURABLE
