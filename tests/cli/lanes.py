"""A product on a test's servers, and ``codemojex lanes`` beside it as an operator calls it.

The commands are called in this process, on event loops of their own: so what a test does to the product meanwhile is
done on loops of its own, too.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from redis.asyncio import Redis

from engine.game.model import Room, Round
from engine.game.request import Receipt
from tests.cli.program import Done
from tests.workers.making import House, house, wrong

T = TypeVar("T")


@dataclass(frozen=True)
class Desk:
    """Where an operator sits. ``call`` calls the command line."""

    call: Callable[..., Done]
    redis_url: str
    database_url: str
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    def do(self, work: Callable[[House], Awaitable[T]]) -> T:
        """Do something in the product, as its own processes would."""

        async def doing() -> T:
            async with (
                Redis.from_url(self.redis_url, decode_responses=False) as redis,
                house(redis, self.database_url) as product,
            ):
                return await work(replace(product, messages=lambda: next(self.numbers)))

        return asyncio.run(doing())

    def poke(self, touch: Callable[[Redis], Awaitable[object]]) -> None:
        """Touch Redis by hand."""

        async def poking() -> None:
            async with Redis.from_url(self.redis_url) as redis:
                await touch(redis)

        asyncio.run(poking())

    def lanes(self, *arguments: str, stdin: bytes = b"") -> Done:
        address = self.database_url.replace("+aiosqlite", "").replace("+asyncpg", "")
        return self.call("lanes", *arguments, stdin=stdin, REDIS_URL=self.redis_url, DATABASE_URL=address)

    def told(self, *arguments: str) -> Any:
        """Run a command that must work; answers its one JSON document."""
        done = self.lanes(*arguments, "--json")
        assert (done.code, done.err) == (0, ""), done
        return json.loads(done.out)

    def said(self, *arguments: str) -> str:
        """Run a command that must work; answers what it said to a person."""
        done = self.lanes(*arguments)
        assert (done.code, done.err) == (0, ""), done
        return done.out

    def refused(self, *arguments: str, stdin: bytes = b"") -> Done:
        """Run a command that must not work; it says so in one line."""
        done = self.lanes(*arguments, stdin=stdin)
        assert done.code != 0, done
        assert done.line.startswith("codemojex: ")
        return done

    def flooded(self, count: int, *, chat: int = -100) -> Room:
        """A room with so many guesses waiting, of four players."""

        async def flooding(product: House) -> Room:
            room, round_ = await product.open(chat=chat)
            for number in range(count):
                assert await product.guess(wrong(round_), f"P{number % 4}", chat=chat) is Receipt.DURABLE
            return room

        return self.do(flooding)

    def current(self) -> tuple[Room, Round]:
        """The room and its round as SQL has them."""
        return self.do(lambda product: product.current())
