"""What a row refers to is there: a row that points into the void is refused, and so is the deletion that leaves one."""

from __future__ import annotations

from typing import Any, Final

import pytest
from sqlalchemy import ForeignKey, delete, insert, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from engine.game.model import RoundState
from engine.store.database import Database, open_database
from engine.store.tables import metadata
from migrations.run import upgrade

ONE_OF_EACH: Final[dict[str, dict[str, Any]]] = {
    "chats": {"id": "CHT00000000001", "chat_ref": -1, "private": False, "title": "Friends"},
    "plans": {"name": "gold", "weight": 2},
    "switches": {"name": "pause_all", "since_ms": 1},
    "players": {"id": "PLR00000000001", "account_ref": 1, "name": "Ana"},
    "rooms": {"id": "ROM00000000001", "chat": "CHT00000000001", "thread": 0, "paused": False, "plan": "gold"},
    "rounds": {
        "id": "GAM00000000001",
        "room": "ROM00000000001",
        "number": 1,
        "theme": "fruits",
        "keyboard": ("1f34e",),
        "secret": ("1f34e",),
        "nonce": "00",
        "commitment": "ab",
        "state": RoundState.SETTLED,
        "opened_ms": 1,
        "minutes": 10,
        "closing_seq": 1,
        "close_reason": "cracked",
        "winner": "PLR00000000001",
        "settled_ms": 2,
    },
    "guesses": {
        "job": "JOB00000000001",
        "round": "GAM00000000001",
        "player": "PLR00000000001",
        "codes": ("1f34e",),
        "total": 1,
        "seq": 1,
        "counted": True,
        "chat_ref": -1,
        "message_ref": 1,
        "accepted_ms": 1,
    },
    "standings": {
        "round": "GAM00000000001",
        "player": "PLR00000000001",
        "best_total": 1,
        "best_seq": 1,
        "guesses": 1,
    },
    "memberships": {"room": "ROM00000000001", "player": "PLR00000000001", "guesses": 1, "best_total": 1, "wins": 1},
    "aside": {"name": "1", "kind": "message", "error": "x", "attempts": 1, "first_ms": 1, "last_ms": 1},
    "inbox": {"chat_ref": -1, "message_ref": 1, "taken_ms": 1},
    "outbox": {
        "id": "NOT00000000001",
        "chat": "CHT00000000001",
        "thread": 0,
        "kind": "x",
        "body": "{}",
        "created_ms": 1,
    },
}
"""A row of each table that can refer to one."""
REFERENCES: Final = {str(key.parent): key for table in metadata.sorted_tables for key in table.foreign_keys}
REFERRED_TO: Final = sorted({key.column.table.name for key in REFERENCES.values()})


async def fill(connection: AsyncConnection) -> None:
    """Write a row into every table, those first that others refer to."""
    for table in metadata.sorted_tables:
        await connection.execute(insert(table).values(ONE_OF_EACH[table.name]))


@pytest.mark.parametrize("key", REFERENCES.values(), ids=REFERENCES)
async def test_a_row_cannot_refer_to_what_is_not_there(database: Database, key: ForeignKey) -> None:
    nothing = "nobody" if key.column.table.name == "plans" else "XXX00000000009"
    async with database.writing() as connection:
        await fill(connection)
        with pytest.raises(IntegrityError):
            await connection.execute(update(key.parent.table).values({key.parent.name: nothing}))


@pytest.mark.parametrize("name", REFERRED_TO)
async def test_what_is_referred_to_cannot_be_deleted(database: Database, name: str) -> None:
    async with database.writing() as connection:
        await fill(connection)
        with pytest.raises(IntegrityError):
            await connection.execute(delete(metadata.tables[name]))


async def test_a_migration_leaves_references_enforced(database_url: str) -> None:
    """SQLite rebuilds tables with its foreign keys off."""
    async with await open_database(database_url) as database:
        await upgrade(database)
        async with database.writing() as connection:
            await fill(connection)
            with pytest.raises(IntegrityError):
                await connection.execute(delete(metadata.tables["chats"]))
