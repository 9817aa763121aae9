"""Whether servers that were named are free to be flooded: a flood migrates, pauses and claims what it finds there."""

from __future__ import annotations

from sqlalchemy import func, select

from bot.flood.people import TITLE
from bot.flood.plan import BadPlan
from bot.flood.servers import Servers
from bot.redis_server import open_redis
from bot.settings import Settings
from bot.wiring import database_at
from engine.store.database import Database
from engine.store.tables import chats
from engine.workers.adapters import told_ceiling
from migrations.run import current, head

_REMEDY = "name servers that are empty or were flooded before, or say --i-know if this game may be"


async def check_strangers(servers: Servers) -> None:
    """See that no game lives there but those of floods.

    Raises:
        BadPlan: one does.
        RedisUnusable, StoreError: each says what to do.
    """
    settings = Settings.model_validate({})
    async with database_at(servers.database_url, settings) as database:
        found = await current(database)
        if found not in {None, head()}:
            raise BadPlan(f"the database at {database.where} is of another version of this program; {_REMEDY}")
        ours = others = 0
        if found is not None:
            async with database.reading() as connection:
                ours = (
                    await connection.execute(select(func.count()).where(chats.c.title.startswith(TITLE)))
                ).scalar_one()
                others = (await connection.execute(select(func.count()).select_from(chats))).scalar_one() - ours
    if others:
        raise BadPlan(f"the database at {database.where} has {others} chats of a game; {_REMEDY}")
    async with open_redis(servers.redis_url) as redis:
        if not ours and await told_ceiling(redis) is not None:
            raise BadPlan(f"the Redis that was named is that of a game; {_REMEDY}")


async def _chats(database: Database) -> tuple[int, int]:
    """Chats of floods, and of others."""
    floods = func.count().filter(chats.c.title.startswith(TITLE))
    async with database.reading() as connection:
        rows = await connection.execute(select(floods, func.count()).select_from(chats))
        of_floods, of_all = rows.one()
    return of_floods, of_all - of_floods
