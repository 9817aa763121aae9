"""A database that cannot be used says so in one line, with what to do and without a secret."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from sqlalchemy import make_url, text
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.embedded_postgres import PostgresServer
from engine.store.database import Database, open_database
from engine.store.errors import (
    DatabaseBusy,
    DatabaseNotUtf8,
    DatabaseTooOld,
    DatabaseUnreachable,
    RowRefused,
    StatementRefused,
    StoreError,
)
from engine.store.pools import require_version
from engine.store.work import SqlUnits
from tests.store.making import a_place, a_round, a_source, a_table, mint, read, write

PASSWORD = "s3cr3t"  # noqa: S105 - made up, to be looked for


async def _refusal(address: str) -> str:
    with pytest.raises(StoreError) as caught:
        await open_database(address)
    message = str(caught.value)
    whole = "".join(traceback.format_exception(caught.value))
    assert PASSWORD not in message
    assert PASSWORD not in whole.replace(f'PASSWORD = "{PASSWORD}"', "")
    assert "\n" not in message
    return message


async def test_nobody_listens_there() -> None:
    message = await _refusal(f"postgresql://ana:{PASSWORD}@127.0.0.1:1/cm")
    assert message.startswith("cannot reach the database at postgresql://127.0.0.1:1/cm (")
    assert "check that it runs and that DATABASE_URL is right" in message


async def test_the_server_has_no_such_database(postgres: PostgresServer) -> None:
    message = await _refusal(postgres.url("nowhere").replace("postgres@", f"postgres:{PASSWORD}@"))
    assert 'database "nowhere" does not exist' in message


async def test_a_server_that_asks_for_tls_it_does_not_have(postgres_url: str) -> None:
    assert "cannot reach" in await _refusal(f"{postgres_url}&ssl=nonsense")


async def test_a_database_that_cannot_hold_emoji(postgres: PostgresServer) -> None:
    postgres.sql("CREATE DATABASE narrow ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    try:
        with pytest.raises(DatabaseNotUtf8, match=r"LATIN1.*ENCODING 'UTF8'"):
            await open_database(postgres.url("narrow"))
    finally:
        postgres.drop("narrow")


@pytest.mark.parametrize("found", [(13, 22), (9, 6)])
def test_a_version_before_the_oldest_is_refused(found: tuple[int, ...]) -> None:
    with pytest.raises(DatabaseTooOld, match=rf"PostgreSQL {found[0]}.{found[1]} at db is too old; upgrade it to 14"):
        require_version("PostgreSQL", found, (14,), "db")


@pytest.mark.parametrize("found", [(14, 0), (18, 6)])
def test_the_oldest_version_and_later_ones_are_taken(found: tuple[int, ...]) -> None:
    require_version("PostgreSQL", found, (14,), "db")


async def test_a_file_whose_directory_is_missing(tmp_path: Path) -> None:
    message = await _refusal(f"sqlite:///{tmp_path}/nowhere/cm.db")
    assert message.startswith(f"cannot reach the database at {tmp_path}/nowhere/cm.db (")
    assert "check that its directory exists" in message


async def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "cm.db").write_bytes(b"nothing that SQLite wrote " * 100)
    assert "cannot reach" in await _refusal(f"sqlite:///{tmp_path}/cm.db")


async def test_two_first_openers_of_one_file_both_succeed(sqlite_url: str) -> None:
    opened = await asyncio.gather(*(open_database(sqlite_url) for _ in range(4)))
    for database in opened:
        await database.close()


async def test_sqlite_keeps_what_it_committed_through_a_power_cut(sqlite_url: str) -> None:
    """As far as the settings go: a log synced at every commit."""
    async with await open_database(sqlite_url) as database, database.writing() as connection:
        for pragma, value in (("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1)):
            assert (await connection.exec_driver_sql(f"PRAGMA {pragma}")).scalar_one() == value


async def test_a_reading_connection_cannot_write_whatever_it_is_told(database: Database) -> None:
    async with database.reading() as connection:
        with pytest.raises(Exception, match=r"read-only|readonly"):
            await connection.execute(text("DELETE FROM inbox"))


async def test_an_error_about_a_row_carries_no_row(units: SqlUnits) -> None:
    """The drivers quote it, and a round's row has its secret."""
    room = await write(units, lambda unit: unit.rooms.at(a_place()))
    secret = ("S3CRET", "0100", "0200", "0300", "0400", "0500")
    with pytest.raises(RowRefused) as caught:
        await write(units, lambda unit: unit.rounds.add(a_round(room, secret=secret, minutes=None)))
    assert "S3CRET" not in "".join(traceback.format_exception(caught.value))


async def test_a_database_without_our_tables_says_what_to_run(database_url: str) -> None:
    async with await open_database(database_url) as database:
        with pytest.raises(StatementRefused, match="codemojex migrate"):
            await read(SqlUnits(database, mint), lambda unit: unit.rooms.pulled())


async def test_a_lost_connection_is_told_and_the_next_unit_has_another(
    postgres: PostgresServer, postgres_url: str
) -> None:
    async with await open_database(postgres_url) as database:
        async with database.writing() as connection:
            await connection.execute(text("SELECT 1"))
        assert _cut(postgres, postgres_url) == 1
        async with database.writing() as connection:
            assert (await connection.execute(text("SELECT 1"))).scalar_one() == 1


@pytest.mark.parametrize("ready_database_url", ["postgres"], indirect=True)
async def test_a_connection_cut_in_mid_transaction_is_unreachable(
    units: SqlUnits, postgres: PostgresServer, ready_database_url: str
) -> None:
    source = a_source()

    async def interrupted() -> None:
        async with units.begin() as unit:
            await unit.inbox.first(source, 1)
            assert _cut(postgres, ready_database_url) >= 1
            await unit.commit()

    with pytest.raises(DatabaseUnreachable):
        await interrupted()
    assert await write(units, lambda unit: unit.inbox.first(source, 2))


@pytest.mark.parametrize("ready_database_url", ["postgres"], indirect=True)
async def test_a_deadlock_is_busy_for_one_and_nothing_for_the_other(units: SqlUnits) -> None:
    tables = [await a_table(units) for _ in range(2)]
    first_locks = asyncio.Barrier(2)

    async def pause(order: int) -> None:
        async with units.begin() as unit:
            await unit.rooms.pause(tables[order].room.id, paused=True)
            await first_locks.wait()
            await unit.rooms.pause(tables[1 - order].room.id, paused=True)
            await unit.commit()

    ends = await asyncio.gather(pause(0), pause(1), return_exceptions=True)
    assert [type(end) for end in ends if end is not None] == [DatabaseBusy]


def _cut(postgres: PostgresServer, url: str) -> int:
    """Cut every connection to the database at ``url``; answers how many there were."""
    name = make_url(url).database or ""
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    return int(postgres.sql(f"SELECT count(pg_terminate_backend(pid)) {others}", name))


@pytest.mark.parametrize("writes", [True, False])
async def test_a_connection_that_breaks_inside_a_unit_hides_nothing_and_leaves_its_place(
    postgres_url: str, *, writes: bool
) -> None:
    async with await open_database(postgres_url, pool_size=1) as database, await open_database(postgres_url) as other:
        opened = database.writing if writes else database.reading
        for _ in range(3):
            with pytest.raises(KeyError, match="the unit's own"):
                await fail_on_a_broken_connection(opened, other)
            async with opened() as connection:
                await end_its_server_process(connection, other)
        async with opened() as connection:
            assert (await connection.execute(text("SELECT 1"))).scalar_one() == 1


async def fail_on_a_broken_connection(
    opened: Callable[[], AbstractAsyncContextManager[AsyncConnection]], other: Database
) -> None:
    async with opened() as connection:
        await end_its_server_process(connection, other)
        raise KeyError("the unit's own")


async def end_its_server_process(connection: AsyncConnection, other: Database) -> None:
    pid = (await connection.execute(text("SELECT pg_backend_pid()"))).scalar_one()
    async with other.reading() as killer:
        await killer.execute(text("SELECT pg_terminate_backend(:pid, 10000)"), {"pid": pid})
