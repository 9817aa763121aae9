"""Brings a database's schema up to what this program needs, and tells whether it is.

Any number of processes may do so at once: one of them migrates, the others wait and find nothing left to do.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncConnection

from engine.store.database import Database
from engine.store.dialect import POSTGRESQL
from engine.store.errors import NewerSchema, NotMigrated
from engine.store.faults import told_by_the_store

_HOME: Final = Path(__file__).parent
_LOCK: Final = 0x636D_6F6A  # "cmoj": the advisory lock of this program's migrations
_DDL_LOCK_TIMEOUT: Final = "15s"


async def upgrade(database: Database, revision: str = "head") -> None:
    """Migrate up to ``revision``: all of it or, where it fails, nothing.

    Raises:
        NewerSchema: the database knows a revision that this program does not.
        StoreUnavailable: it does not answer, or somebody holds a table.
    """
    await _migrate(database, lambda config: command.upgrade(config, revision))


async def downgrade(database: Database, revision: str) -> None:
    """Migrate down to ``revision`` (``base`` removes everything).

    Raises:
        NewerSchema, StoreUnavailable: as in ``upgrade``.
    """
    await _migrate(database, lambda config: command.downgrade(config, revision))


async def current(database: Database) -> str | None:
    """The revision the database stands at, or None where it was never migrated."""
    async with database.reading() as connection:
        with told_by_the_store(database.where):
            return await connection.run_sync(_revision)


def scripts() -> ScriptDirectory:
    """The migrations that this program has."""
    return ScriptDirectory.from_config(_config())


def head() -> str:
    """The revision this program needs."""
    newest = scripts().get_current_head()
    if newest is None:
        raise RuntimeError(f"no migrations in {_HOME}; install the program again")
    return newest


async def require_current(database: Database) -> None:
    """Look whether the database stands where this program needs it; for processes that do not migrate.

    Raises:
        NotMigrated: it is behind.
        NewerSchema: it is ahead.
    """
    found = await current(database)
    needed = head()
    if found == needed:
        return
    _refuse_unknown(found, database.where)
    raise NotMigrated(found, needed, database.where)


async def _migrate(database: Database, do: Callable[[Config], None]) -> None:
    async with _alone(database) as connection:
        with told_by_the_store(database.where):
            _refuse_unknown(await connection.run_sync(_revision), database.where)
            await connection.run_sync(lambda sync: do(_config(sync)))
            await connection.commit()


@asynccontextmanager
async def _alone(database: Database) -> AsyncIterator[AsyncConnection]:
    """A transaction that no other migration runs beside. On SQLite every writing one is."""
    async with database.altering() as connection:
        if database.dialect == POSTGRESQL:
            with told_by_the_store(database.where):
                await connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
                # A statement that waits for a busy table makes everyone behind it wait too.
                await connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{_DDL_LOCK_TIMEOUT}'")
        yield connection


def _config(connection: Connection | None = None) -> Config:
    config = Config(attributes={} if connection is None else {"connection": connection})
    config.set_main_option("script_location", str(_HOME).replace("%", "%%"))
    return config


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _refuse_unknown(found: str | None, where: str) -> None:
    known = {script.revision for script in scripts().walk_revisions()}
    if found is not None and found not in known:
        raise NewerSchema(found, head(), where)
