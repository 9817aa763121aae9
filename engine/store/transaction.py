"""The statements of one unit of work: what all six repositories speak through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Executable, Row
from sqlalchemy.ext.asyncio import AsyncConnection

from engine.store.dialect import Values
from engine.store.errors import ReadOnlyUnit, UnitEnded
from engine.store.faults import told_by_the_store


class Transaction:
    """Runs statements until the unit's end, and turns what drivers raise into store errors.

    Args:
        connection: in a transaction already.
        where: the database as it may be shown.
        writes: False where nothing may be written.
    """

    def __init__(self, connection: AsyncConnection, where: str, *, writes: bool) -> None:
        self.dialect = connection.dialect.name
        self._connection = connection
        self._where = where
        self._writes = writes
        self._ended = False

    async def rows(self, statement: Executable, values: Mapping[str, Any] | None = None) -> Sequence[Row[Any]]:
        """All rows that a query answers."""
        self._alive()
        with told_by_the_store(self._where):
            return (await self._connection.execute(statement, values)).all()

    async def row(self, statement: Executable) -> Row[Any] | None:
        """The first row, if there is one."""
        rows = await self.rows(statement)
        return rows[0] if rows else None

    async def write(self, statement: Executable, values: Values | None = None) -> int:
        """Run a statement that writes, once or for each of ``values``; answers how many rows it touched.

        The number means nothing where ``values`` are several.
        """
        self._may_write()
        with told_by_the_store(self._where):
            return (await self._connection.execute(statement, values)).rowcount

    async def written(self, statement: Executable, values: Values | None = None) -> Sequence[Row[Any]]:
        """Run a statement that writes or locks, and answers the rows it did so to (``RETURNING``, ``FOR UPDATE``)."""
        self._may_write()
        with told_by_the_store(self._where):
            return (await self._connection.execute(statement, values)).all()

    async def commit(self) -> None:
        """Keep what was written, and end."""
        self._may_write()
        self._ended = True
        with told_by_the_store(self._where):
            await self._connection.commit()

    def end(self) -> None:
        """Refuse whatever comes after."""
        self._ended = True

    def _alive(self) -> None:
        if self._ended:
            raise UnitEnded

    def _may_write(self) -> None:
        self._alive()
        if not self._writes:
            raise ReadOnlyUnit
