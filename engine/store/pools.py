"""How connections of each kind are made, and whether what answers is fit to use."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Final, cast

import asyncpg
from sqlalchemy import URL, Connection, NullPool, event
from sqlalchemy.engine import AdaptedConnection
from sqlalchemy.engine.interfaces import DBAPIConnection, ExceptionContext
from sqlalchemy.exc import DisconnectionError, InvalidatePoolError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

from engine.store.errors import DatabaseBusy, DatabaseNotUtf8, DatabaseTooOld

_OLDEST_POSTGRESQL: Final = (14,)
_OLDEST_SQLITE: Final = (3, 35, 0)  # RETURNING
_SQLITE_READERS: Final = 4
_LOCK_TIMEOUT_MS: Final = 15_000
_POOL_TIMEOUT_S: Final = 30
_CONNECT_TIMEOUT_S: Final = 10
_ANSWER_TIMEOUT_S: Final = 40
"""Of a statement; longer than the server's own limit, so that one that is only slow is told so by the server."""
_TRIAL_TIMEOUT_S: Final = 5
"""Of the statement that tries a connection; a server that runs answers that at once."""
_WAL_POLL_S: Final = 0.01

_PRAGMAS: Final = (
    f"PRAGMA busy_timeout = {_LOCK_TIMEOUT_MS}",
    "PRAGMA foreign_keys = ON",
    # A job is completed once its guess is committed: from then on the file alone must keep it, through a power cut.
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",  # macOS: without it, a sync ends in the drive's cache
)


@dataclass(frozen=True, slots=True)
class Pools:
    """Where connections come from: to write, to read, and to change the schema."""

    writer: AsyncEngine
    reader: AsyncEngine
    alterer: AsyncEngine

    async def close(self) -> None:
        """Close every connection that is not in use."""
        for pool in (self.reader, self.writer, self.alterer):
            await pool.dispose()


def postgresql_pools(url: URL, size: int) -> Pools:
    """One pool for writing and reading, and connections without timeouts for migrations."""
    writer = create_async_engine(
        url,
        hide_parameters=True,
        pool_size=size,
        max_overflow=0,
        pool_timeout=_POOL_TIMEOUT_S,
        connect_args={
            "timeout": _CONNECT_TIMEOUT_S,
            "command_timeout": _ANSWER_TIMEOUT_S,  # a server that was stopped, not killed, answers nothing at all
            "server_settings": {
                "application_name": "codemojex",
                "lock_timeout": f"{_LOCK_TIMEOUT_MS}ms",
                "statement_timeout": "30s",
                "idle_in_transaction_session_timeout": "60s",
                "jit": "off",  # our statements are short; compiling one takes longer than running it
            },
        },
    )
    event.listen(writer.sync_engine, "checkout", _try_first)
    event.listen(writer.sync_engine, "handle_error", _distrust_all)
    alterer = create_async_engine(
        url,
        hide_parameters=True,
        poolclass=NullPool,
        connect_args={
            "timeout": _CONNECT_TIMEOUT_S,
            "server_settings": {"application_name": "codemojex migrate"},
        },
    )
    reader = writer.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    return Pools(writer, reader, alterer)


def _try_first(connection: DBAPIConnection, _: ConnectionPoolEntry, __: PoolProxiedConnection) -> None:
    """A restarted server, or a link that went silent, costs nobody a transaction.

    SQLAlchemy's ``pool_pre_ping`` takes three trips where this takes one, waits as long as for any statement, and where
    nothing answers it gives up one connection alone: each of the others then costs somebody as long again.

    Raises:
        InvalidatePoolError: it does not answer; the pool then connects anew, and gives up all that are as old.
        DisconnectionError: it can't be asked; the pool connects anew in its place.
    """

    async def ask(driver: asyncpg.Connection) -> None:
        await driver.execute("SELECT 1", timeout=_TRIAL_TIMEOUT_S)

    try:
        cast("AdaptedConnection", connection).run_async(ask)
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:  # TimeoutError is an OSError
        raise InvalidatePoolError from error
    except Exception as error:  # it broke off in the midst of something, or what came is no answer
        raise DisconnectionError from error


def _distrust_all(failed: ExceptionContext) -> None:
    """Where one connection got no answer in time, the others of the pool are as old, and each would cost as long.

    By itself, SQLAlchemy takes a timeout for a cancellation, and gives up the one connection alone.
    """
    if isinstance(failed.original_exception, TimeoutError):
        failed.invalidate_pool_on_disconnect = True


async def look_at_postgresql(pools: Pools, where: str) -> None:
    """See that the server answers and is fit.

    Raises:
        DatabaseTooOld, DatabaseNotUtf8: it is not.
    """
    async with pools.writer.connect() as connection:
        number = int((await connection.exec_driver_sql("SHOW server_version_num")).scalar_one())
        encoding = str((await connection.exec_driver_sql("SHOW server_encoding")).scalar_one())
    require_version("PostgreSQL", divmod(number, 10_000), _OLDEST_POSTGRESQL, where)
    require_utf8(encoding, where)


def sqlite_pools(url: URL) -> Pools:
    """One writing connection, a few reading ones, and connections for migrations."""
    writer = _sqlite_pool(url, 1, _PRAGMAS, "BEGIN IMMEDIATE")
    reader = _sqlite_pool(url, _SQLITE_READERS, (*_PRAGMAS, "PRAGMA query_only = ON"), "BEGIN")
    alterer = _sqlite_pool(url, 1, (*_PRAGMAS, "PRAGMA foreign_keys = OFF"), "BEGIN IMMEDIATE")
    return Pools(writer, reader, alterer)


async def look_at_sqlite(path: str, where: str) -> None:
    """See that the file can be opened, and bring it to the write-ahead log, where nobody waits to read.

    Raises:
        DatabaseTooOld: the library is.
        DatabaseBusy: another process keeps the file from being switched.
    """
    require_version("SQLite", sqlite3.sqlite_version_info, _OLDEST_SQLITE, where)
    # Switching does not wait for locks by itself, and two first openers may meet.
    deadline = asyncio.get_running_loop().time() + _LOCK_TIMEOUT_MS / 1000
    # Not through a pool: a file that cannot be opened would leave the driver's thread behind.
    while not await asyncio.to_thread(_in_wal, path):
        if asyncio.get_running_loop().time() > deadline:
            raise DatabaseBusy(where, "another process holds it", "stop that process, then try again")
        await asyncio.sleep(_WAL_POLL_S)


def require_version(product: str, found: tuple[int, ...], oldest: tuple[int, ...], where: str) -> None:
    """Compare versions.

    Raises:
        DatabaseTooOld: ``found`` is before ``oldest``.
    """
    if found < oldest:
        raise DatabaseTooOld(product, _dotted(found), _dotted(oldest), where)


def require_utf8(encoding: str, where: str) -> None:
    """Look at an encoding's name.

    Raises:
        DatabaseNotUtf8: it is another one.
    """
    if encoding.upper() != "UTF8":
        raise DatabaseNotUtf8(encoding, where)


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(str(part) for part in version)


def _sqlite_pool(url: URL, size: int, pragmas: tuple[str, ...], begin: str) -> AsyncEngine:
    pool = create_async_engine(
        url,
        hide_parameters=True,
        pool_size=size,
        max_overflow=0,
        pool_timeout=_POOL_TIMEOUT_S,
        # The driver's own transactions begin at the first write, after what it rests on was read: so none of those.
        connect_args={"isolation_level": None},
    )
    event.listen(pool.sync_engine, "connect", _setting(pragmas))
    event.listen(pool.sync_engine, "begin", _beginning(begin))
    return pool


def _setting(pragmas: tuple[str, ...]) -> Callable[[DBAPIConnection, ConnectionPoolEntry], None]:
    def set_up(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        cursor = connection.cursor()
        for pragma in pragmas:
            cursor.execute(pragma)
        cursor.close()

    return set_up


def _beginning(begin: str) -> Callable[[Connection], None]:
    def begin_transaction(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return begin_transaction


def _in_wal(path: str) -> bool:
    """Switch the file, which remembers it, to the write-ahead log; False while somebody else holds it."""
    with closing(sqlite3.connect(path)) as connection:
        try:
            mode: tuple[str] | None = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname.startswith("SQLITE_BUSY"):
                return False
            raise
    return mode == ("wal",)
