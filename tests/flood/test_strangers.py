"""Servers that were named are flooded only where no game lives."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis
from sqlalchemy import insert

from bot.flood.people import TITLE
from bot.flood.plan import BadPlan
from bot.flood.servers import Servers
from bot.flood.strangers import check_strangers
from engine.ids import CHAT, Minter
from engine.store.database import open_database
from engine.store.tables import chats
from engine.workers.adapters import _TOLD

MINT = Minter(1).mint


async def chat(url: str, title: str) -> None:
    async with await open_database(url) as database, database.writing() as connection:
        await connection.execute(insert(chats).values(id=MINT(CHAT), chat_ref=-1, private=False, title=title))
        await connection.commit()


async def test_empty_servers_may_be_flooded(redis_url: str, database_url: str) -> None:
    await check_strangers(Servers(redis_url, database_url))


async def test_servers_of_an_earlier_flood_may_be_flooded(
    redis: Redis, redis_url: str, ready_database_url: str
) -> None:
    await redis.set(_TOLD, 8)
    await chat(ready_database_url, f"{TITLE}3")
    await check_strangers(Servers(redis_url, ready_database_url))


async def test_a_database_with_a_game_in_it_is_left_alone(redis_url: str, ready_database_url: str) -> None:
    await chat(ready_database_url, "Friends")
    with pytest.raises(BadPlan, match="has 1 chats of a game"):
        await check_strangers(Servers(redis_url, ready_database_url))


async def test_a_redis_that_workers_of_a_game_use_is_left_alone(
    redis: Redis, redis_url: str, database_url: str
) -> None:
    await redis.set(_TOLD, 8)
    with pytest.raises(BadPlan, match="is that of a game"):
        await check_strangers(Servers(redis_url, database_url))
