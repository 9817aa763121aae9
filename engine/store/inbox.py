"""Messages whose effect has been taken."""

from __future__ import annotations

from sqlalchemy import delete, select, tuple_

from engine.game.model import Source
from engine.store.dialect import insert
from engine.store.tables import inbox
from engine.store.transaction import Transaction


class SqlInbox:
    """Implements ``engine.game.request.Inbox``."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    async def first(self, source: Source, taken_ms: int) -> bool:
        """Record ``source``; False where it was there already. Waits for a unit that is recording the same one."""
        statement = (
            insert(self._transaction.dialect, inbox)
            .values(chat_ref=source.chat_ref, message_ref=source.message_ref, taken_ms=taken_ms)
            .on_conflict_do_nothing()
            .returning(inbox.c.taken_ms)
        )
        return bool(await self._transaction.written(statement))

    async def prune(self, taken_before_ms: int, limit: int) -> int:
        """Forget up to ``limit`` of those taken before, the oldest first; answers how many."""
        key = (inbox.c.chat_ref, inbox.c.message_ref)
        old = (
            select(*key)
            .where(inbox.c.taken_ms < taken_before_ms)
            .order_by(inbox.c.taken_ms)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        return await self._transaction.write(delete(inbox).where(tuple_(*key).in_(old)))
