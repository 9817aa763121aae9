"""An opened database: where writing and reading transactions come from.

SQLite: one writing connection a process (``BEGIN IMMEDIATE``, so no update is ever lost), a few reading ones that
see a snapshot and never wait for the writer. PostgreSQL: one pool; reading transactions see one snapshot too.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Self

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from engine.store.address import parse, shown
from engine.store.dialect import SQLITE
from engine.store.errors import StoreUnavailable
from engine.store.faults import told_by_the_store
from engine.store.pools import Pools, look_at_postgresql, look_at_sqlite, postgresql_pools, sqlite_pools


class Database:
    """Transactions on one database. Made by ``open_database``; belongs to the event loop that opened it.

    Args:
        pools: where connections come from.
        where: the address as it may be shown.
    """

    def __init__(self, pools: Pools, where: str) -> None:
        self.where = where
        self.dialect = pools.writer.dialect.name
        self._pools = pools

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """A connection in a transaction that may write; whoever wants it kept commits.

        Raises:
            StoreUnavailable: none to be had.
        """
        async with self._transaction(self._pools.writer) as connection:
            yield connection

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """A connection in a transaction that sees one snapshot and cannot write.

        Raises:
            StoreUnavailable: none to be had.
        """
        async with self._transaction(self._pools.reader) as connection:
            yield connection

    @asynccontextmanager
    async def altering(self) -> AsyncIterator[AsyncConnection]:
        """A connection of its own in a transaction that may change the schema, for as long as that takes.

        SQLite's foreign keys are off in it, so that a table may be rebuilt; whoever does so checks them at the end.

        Raises:
            StoreUnavailable: none to be had.
        """
        async with self._transaction(self._pools.alterer) as connection:
            yield connection

    async def close(self) -> None:
        """Close every connection."""
        await self._pools.close()

    @asynccontextmanager
    async def _transaction(self, pool: AsyncEngine) -> AsyncIterator[AsyncConnection]:
        """Leaving rolls back what was not committed."""
        with told_by_the_store(self.where):
            connection = await pool.connect()
        try:
            with told_by_the_store(self.where):
                await connection.begin()
            yield connection
        finally:
            # A connection that broke can't be rolled back, nor need it be: what was committed is, the rest is gone.
            # Shielded, as one that is left half closed would be missing in its pool.
            with suppress(StoreUnavailable), told_by_the_store(self.where):
                await asyncio.shield(asyncio.create_task(connection.close()))


async def open_database(address: str, *, pool_size: int = 10) -> Database:
    """Open the database at ``address`` and look whether it is fit; its schema is not looked at.

    Args:
        address: ``postgresql://...`` or ``sqlite:///file``.
        pool_size: most connections to PostgreSQL; a migration takes one more.

    Raises:
        DatabaseUrlUnusable: the address is none this program can open.
        StoreUnavailable: it does not answer.
        DatabaseTooOld: PostgreSQL before 14, SQLite before 3.35.
        DatabaseNotUtf8: it cannot hold emoji.
    """
    url = parse(address)
    where = shown(url)
    on_file = url.get_backend_name() == SQLITE
    pools = sqlite_pools(url) if on_file else postgresql_pools(url, pool_size)
    try:
        with told_by_the_store(where):
            await (look_at_sqlite(url.database or "", where) if on_file else look_at_postgresql(pools, where))
    except BaseException:
        await pools.close()
        raise
    return Database(pools, where)
