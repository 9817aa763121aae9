"""Migrations: one line of them, up and down, the same schema as the tables, by one process at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from engine.store.database import Database, open_database
from engine.store.dialect import SQLITE
from engine.store.errors import NewerSchema, NotMigrated, StoreError
from engine.store.tables import metadata
from migrations.run import current, downgrade, head, require_current, scripts, upgrade


@pytest.fixture
async def empty(database_url: str) -> AsyncIterator[Database]:
    async with await open_database(database_url) as database:
        yield database


def test_there_is_one_head_and_one_root() -> None:
    revisions: ScriptDirectory = scripts()
    assert len(revisions.get_heads()) == 1
    assert len(revisions.get_bases()) == 1


async def test_up_down_and_up_again(empty: Database) -> None:
    assert await current(empty) is None
    await upgrade(empty)
    assert await current(empty) == head()
    assert await _names(empty) == {*metadata.tables, "alembic_version"}
    await downgrade(empty, "base")
    assert await current(empty) is None
    assert await _names(empty) == {"alembic_version"}
    await upgrade(empty)
    await upgrade(empty)
    await require_current(empty)
    assert await _names(empty) == {*metadata.tables, "alembic_version"}


async def test_tables_and_migrations_agree_for_alembic(empty: Database) -> None:
    await upgrade(empty)

    def differences(connection: Connection) -> list[object]:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        return list(compare_metadata(context, metadata))

    async with empty.reading() as connection:
        assert await connection.run_sync(differences) == []


async def test_tables_and_migrations_agree_in_the_database_s_own_words(empty: Database) -> None:
    """With what Alembic does not compare: checks, collations, conditions of indexes."""
    await upgrade(empty)
    migrated = await _description(empty)
    await downgrade(empty, "base")
    async with empty.altering() as connection:
        await connection.run_sync(metadata.create_all)
        await connection.commit()
    assert await _description(empty) == migrated
    assert any("uq_rounds_room_unsettled" in line for line in migrated)


async def test_processes_that_migrate_at_once_do_not_meet(database_url: str) -> None:
    databases = [await open_database(database_url) for _ in range(4)]
    await asyncio.gather(*(upgrade(database) for database in databases))
    for database in databases:
        await require_current(database)
        await database.close()


async def test_a_failed_migration_leaves_nothing_behind(empty: Database) -> None:
    async with empty.altering() as connection:
        await connection.execute(text("CREATE TABLE outbox (id INTEGER)"))
        await connection.commit()
    with pytest.raises(StoreError):
        await upgrade(empty)
    assert await _names(empty) == {"outbox"}
    assert await current(empty) is None


async def test_a_database_that_was_never_migrated_says_what_to_run(empty: Database) -> None:
    with pytest.raises(NotMigrated, match=f"has no schema yet, this program needs {head()}; run `codemojex migrate`"):
        await require_current(empty)
    await upgrade(empty)
    await downgrade(empty, "base")
    with pytest.raises(NotMigrated):
        await require_current(empty)


async def test_a_schema_from_a_newer_version_is_left_alone(empty: Database) -> None:
    await upgrade(empty)
    async with empty.writing() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        await connection.commit()
    for verb in (require_current(empty), upgrade(empty), downgrade(empty, "base")):
        with pytest.raises(NewerSchema, match=r"stands at schema 9999.*or a newer one"):
            await verb
    assert await _names(empty) == {*metadata.tables, "alembic_version"}


async def _names(database: Database) -> set[str]:
    async with database.reading() as connection:
        return set(await connection.run_sync(lambda sync: inspect(sync).get_table_names()))


async def _description(database: Database) -> list[str]:
    query = _SQLITE if database.dialect == SQLITE else _POSTGRESQL
    async with database.reading() as connection:
        rows = (await connection.execute(text(query))).all()
    return sorted(f"{name}: {piece}" for name, words in rows for piece in _pieces(str(words)))


def _pieces(words: str) -> list[str]:
    """A definition piece by piece: SQLite keeps constraints in the order, and names in the quotes, they came in."""
    return " ".join(words.replace('"', "").split()).removesuffix(" )").split(", CONSTRAINT ")


_SQLITE = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name <> 'alembic_version'"
_POSTGRESQL = """
SELECT c.relname || '.' || a.attname,
       format_type(a.atttypid, a.atttypmod) || ' ' || coalesce(k.collname, '') || ' ' || a.attnotnull
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_collation k ON k.oid = a.attcollation
 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
   AND c.relname <> 'alembic_version'
UNION ALL
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
 WHERE connamespace = 'public'::regnamespace AND conname NOT LIKE 'alembic_version%'
UNION ALL
SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'alembic_version'
"""
