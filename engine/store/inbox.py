"""Messages whose effect has been taken."""

from __future__ import annotations

from engine.game.model import Source
from engine.store.dialect import insert
from engine.store.tables import inbox
from engine.store.transaction import Transaction


class SqlInbox:
    """Implements ``engine.game.ports.Inbox``."""

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
