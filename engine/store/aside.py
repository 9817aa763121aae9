"""Updates that failed by themselves: counted over every delivery and restart, and kept once they are set aside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Row, delete, func, select, update

from engine.store.dialect import insert
from engine.store.tables import UPDATE_NAME_LENGTH, aside
from engine.store.text import storable
from engine.store.transaction import Transaction

COUNTED_MS: Final = 2 * 86_400_000
"""How long a count is remembered after the last try; whoever delivers updates gives one up after a day."""
KEPT_MS: Final = 30 * 86_400_000
"""How long what was set aside is kept: long enough to be looked into, and no longer, as it says what people said."""
MOST_KEPT: Final = 10_000
LONGEST_BODY: Final = 65_536
"""Characters of a body that are kept."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One try that failed.

    Args:
        name: the update's, the same at every delivery.
        kind: what kind of update it is.
        error: the error's type; its text may quote what nobody should read.
        body: the update as it came.
        at_ms: when.
    """

    name: str
    kind: str
    error: str
    body: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class AsideUpdate:
    """An update that was set aside; ``body`` is as it came, cut where it was longer than ``LONGEST_BODY``."""

    name: str
    kind: str
    error: str
    attempts: int
    first_ms: int
    last_ms: int
    aside_ms: int
    body: str


class SqlAside:
    """The updates that failed, in one unit of work."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    async def failed(self, failure: Failure, most: int) -> int:
        """Count a failed try; at the ``most``-th the update is set aside. Answers how many there were.

        What is older than it need be kept goes on the way.
        """
        values = {
            "kind": storable(failure.kind)[:32],
            "error": storable(failure.error)[:64],
            "last_ms": failure.at_ms,
        }
        counted = (
            insert(self._transaction.dialect, aside)
            .values(name=failure.name[:UPDATE_NAME_LENGTH], attempts=1, first_ms=failure.at_ms, **values)
            .on_conflict_do_update(index_elements=[aside.c.name], set_={"attempts": aside.c.attempts + 1, **values})
            .returning(aside.c.attempts)
        )
        attempts = int((await self._transaction.written(counted))[0].attempts)
        if attempts >= most:
            await self._transaction.write(
                update(aside)
                .where(aside.c.name == failure.name[:UPDATE_NAME_LENGTH], aside.c.aside_ms.is_(None))
                .values(aside_ms=failure.at_ms, body=storable(failure.body)[:LONGEST_BODY])
            )
            await self._trim()
        await self._forget_old(failure.at_ms)
        return attempts

    async def mended(self, name: str) -> None:
        """Forget the count of an update that worked after all."""
        await self._transaction.write(delete(aside).where(aside.c.name == name))

    async def count(self) -> int:
        """How many are set aside."""
        row = await self._transaction.row(select(func.count()).select_from(aside).where(aside.c.aside_ms.is_not(None)))
        return 0 if row is None else int(row[0])

    async def newest(self, limit: int) -> list[AsideUpdate]:
        """Those set aside, the newest first."""
        found = await self._transaction.rows(
            select(aside).where(aside.c.aside_ms.is_not(None)).order_by(aside.c.last_ms.desc()).limit(limit)
        )
        return [_update(row) for row in found]

    async def get(self, name: str) -> AsideUpdate | None:
        """The one set aside under ``name``, or None."""
        row = await self._transaction.row(select(aside).where(aside.c.name == name, aside.c.aside_ms.is_not(None)))
        return None if row is None else _update(row)

    async def drop(self, name: str | None) -> int:
        """Delete the one set aside under ``name``, or all of them where it is None; answers how many there were."""
        statement = delete(aside).where(aside.c.aside_ms.is_not(None))
        return await self._transaction.write(statement if name is None else statement.where(aside.c.name == name))

    async def _forget_old(self, now_ms: int) -> None:
        counted = aside.c.aside_ms.is_(None) & (aside.c.last_ms < now_ms - COUNTED_MS)
        await self._transaction.write(delete(aside).where(counted | (aside.c.last_ms < now_ms - KEPT_MS)))

    async def _trim(self) -> None:
        beyond = select(aside.c.name).order_by(aside.c.last_ms.desc()).offset(MOST_KEPT).limit(MOST_KEPT)
        await self._transaction.write(delete(aside).where(aside.c.name.in_(beyond)))


def _update(row: Row[Any]) -> AsideUpdate:
    return AsideUpdate(
        name=row.name,
        kind=row.kind,
        error=row.error,
        attempts=row.attempts,
        first_ms=row.first_ms,
        last_ms=row.last_ms,
        aside_ms=row.aside_ms,
        body=row.body,
    )
