"""What must still be said, kept in the transaction that made it true."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter
from sqlalchemy import ColumnElement, Row, delete, func, not_, select, text, update

from engine.game.notices import Notice
from engine.game.ports import OutboxItem, Outgoing
from engine.ids import NOTICE, ChatId, NoticeId, PlayerId, first_id
from engine.store.dialect import insert_rows, one_of
from engine.store.tables import UNSENT, chats, outbox, players
from engine.store.text import storable
from engine.store.transaction import Transaction

_notices: Final[TypeAdapter[Notice]] = TypeAdapter(Annotated[Notice, Field(discriminator="kind")])
_unsent = text(UNSENT)
# The same in words that the index of the unsent does not match: known ids are found by the key. While a flood
# waits, PostgreSQL's statistics may still call the unsent few, and it would read all of them for each lookup.
_waiting = func.coalesce(outbox.c.sent_ms, outbox.c.dropped_ms).is_(None)


class SqlOutbox:
    """Implements ``engine.game.ports.Outbox``."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    async def put(self, notices: Sequence[Outgoing]) -> None:
        """Add notices; one whose id is there already is left as it is."""
        if not notices:
            return
        rows = [_values(notice) for notice in sorted(notices, key=_by_id)]
        statement, values = insert_rows(self._transaction.dialect, outbox, rows)
        await self._transaction.write(statement.on_conflict_do_nothing(), values)

    async def waiting(self, notices: Sequence[NoticeId]) -> list[tuple[NoticeId, ChatId]]:
        """Those of ``notices`` that are neither sent nor dropped."""
        statement = select(outbox.c.id, outbox.c.chat).where(self._among(notices), _waiting).order_by(outbox.c.id)
        return _handles(await self._transaction.rows(statement))

    async def unsent(
        self, limit: int, created_before_ms: int, after: NoticeId | None = None
    ) -> list[tuple[NoticeId, ChatId]]:
        """The first notices (by id, which is mint order) behind ``after`` that are neither sent nor dropped."""
        statement = (
            select(outbox.c.id, outbox.c.chat)
            .where(_unsent, outbox.c.id > (after or ""), outbox.c.created_ms < created_before_ms)
            .order_by(outbox.c.id)
            .limit(limit)
        )
        return _handles(await self._transaction.rows(statement))

    async def owes(self, chat: ChatId) -> bool:
        """Whether anything is still to be said to the chat. Looks through all that is unsent, to anybody."""
        statement = select(outbox.c.id).where(_unsent, outbox.c.chat == chat).limit(1)
        return await self._transaction.row(statement) is not None

    async def load(self, notices: Sequence[NoticeId]) -> list[OutboxItem]:
        """Those of ``notices`` that are neither sent nor dropped, in the order asked for."""
        # A chat that became another is spoken to as that one.
        spoken = chats.alias("spoken")
        statement = (
            select(outbox, spoken.c.chat_ref, spoken.c.private, spoken.c.away)
            .join(chats, chats.c.id == outbox.c.chat)
            .join(spoken, spoken.c.id == func.coalesce(chats.c.moved_to, chats.c.id))
            .where(self._among(notices), _waiting)
        )
        found = {row.id: (row, read_notice(row.body)) for row in await self._transaction.rows(statement)}
        names = await self._names(notice for _, notice in found.values())
        return [_item(*found[id_], names) for id_ in dict.fromkeys(notices) if id_ in found]

    async def sent(self, notices: Sequence[NoticeId], sent_ms: int) -> None:
        """Mark as said; what was dropped stays dropped, and a first time stays."""
        await self._transaction.write(update(outbox).where(self._among(notices), _waiting).values(sent_ms=sent_ms))

    async def drop(self, notices: Sequence[NoticeId], reason: str, dropped_ms: int) -> None:
        """Mark as never to be said, and why; what was said stays said."""
        await self._transaction.write(
            update(outbox)
            .where(self._among(notices), _waiting)
            .values(dropped_ms=dropped_ms, drop_reason=storable(reason))
        )

    async def drop_all(self, chat: ChatId, thread: int | None, reason: str, dropped_ms: int) -> None:
        """Drop all that is still to be said to the chat, or to one thread of it. Looks through all that is unsent."""
        there = [outbox.c.chat == chat] if thread is None else [outbox.c.chat == chat, outbox.c.thread == thread]
        await self._transaction.write(
            update(outbox).where(_unsent, *there).values(dropped_ms=dropped_ms, drop_reason=storable(reason))
        )

    async def prune(self, created_before_ms: int, limit: int) -> int:
        """Delete up to ``limit`` notices that are sent or dropped and older than that; answers how many.

        Their ids tell their age, so they are found at the front of the key, whatever is behind.
        """
        old = (
            select(outbox.c.id)
            .where(outbox.c.id < first_id(NOTICE, created_before_ms), not_(_waiting))
            .order_by(outbox.c.id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        return await self._transaction.write(delete(outbox).where(outbox.c.id.in_(old)))

    def _among(self, notices: Sequence[NoticeId]) -> ColumnElement[bool]:
        return one_of(self._transaction.dialect, outbox.c.id, notices)

    async def _names(self, notices: Iterable[Notice]) -> dict[PlayerId, str]:
        wanted = sorted({player for notice in notices for player in notice.players()})
        if not wanted:
            return {}
        known = select(players.c.id, players.c.name).where(one_of(self._transaction.dialect, players.c.id, wanted))
        found = await self._transaction.rows(known)
        return {PlayerId(row.id): row.name for row in found}


def write_notice(notice: Notice) -> str:
    """The notice as JSON, all ASCII: so it survives half surrogates and NULs in a word somebody typed."""
    return json.dumps(_notices.dump_python(notice, mode="json"), separators=(",", ":"))


def read_notice(body: str) -> Notice:
    """The notice that ``write_notice`` wrote."""
    return _notices.validate_python(json.loads(body))


def _by_id(notice: Outgoing) -> NoticeId:
    return notice.id


def _values(notice: Outgoing) -> dict[str, object]:
    return {
        "id": notice.id,
        "chat": notice.chat,
        "thread": notice.thread,
        "kind": notice.notice.kind,
        "body": write_notice(notice.notice),
        "reply_to": None if notice.reply_to is None else notice.reply_to.message_ref,
        "reply_chat_ref": None if notice.reply_to is None else notice.reply_to.chat_ref,
        "created_ms": notice.created_ms,
    }


def _handles(rows: Iterable[Row[Any]]) -> list[tuple[NoticeId, ChatId]]:
    return [(NoticeId(row.id), ChatId(row.chat)) for row in rows]


def _item(row: Row[Any], notice: Notice, names: dict[PlayerId, str]) -> OutboxItem:
    return OutboxItem(
        id=NoticeId(row.id),
        chat=ChatId(row.chat),
        chat_ref=row.chat_ref,
        private=row.private,
        thread=row.thread,
        notice=notice,
        # Written by an older version of the program, it says no chat.
        reply_to=row.reply_to if row.reply_chat_ref in {None, row.chat_ref} else None,
        names={player: names[player] for player in notice.players() if player in names},
        away=row.away,
    )
