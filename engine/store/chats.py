"""Chats: where they are known from, where they moved to, and whether the bot is in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sqlalchemy import Row, exists, or_, select, update

from engine import ids
from engine.game.model import Chat, Room
from engine.ids import ChatId, RoomId
from engine.store.dialect import insert
from engine.store.rooms import room_of, select_rooms
from engine.store.tables import chats, rooms, rounds
from engine.store.transaction import Transaction

_NOWHERE: Final = 0
"""No chat has this number: one of two that swap theirs stands here in between."""


class SqlChats:
    """Implements ``engine.game.places.Chats``."""

    def __init__(self, transaction: Transaction, mint: Callable[[str], str]) -> None:
        self._transaction = transaction
        self._mint = mint

    async def lock(self, chat_ref: int) -> Chat | None:
        """The chat known by ``chat_ref``, locked; None where there is none."""
        known = select(chats).where(chats.c.chat_ref == chat_ref).with_for_update(key_share=True)
        found = await self._transaction.written(known)
        return _chat(found[0]) if found else None

    async def rooms(self, chat: ChatId) -> list[Room]:
        """The chat's rooms, the oldest first."""
        found = await self._transaction.rows(select_rooms().where(rooms.c.chat == chat).order_by(rooms.c.id))
        return [room_of(row) for row in found]

    async def played(self, chat: ChatId) -> bool:
        """Whether a round was ever opened in one of the chat's rooms."""
        any_round = exists().where(rounds.c.room == rooms.c.id)
        found = await self._transaction.row(select(rooms.c.id).where(rooms.c.chat == chat, any_round).limit(1))
        return found is not None

    async def away(self, chat: ChatId, *, away: bool) -> None:
        """Write whether the bot can't speak to the chat."""
        await self._transaction.write(update(chats).where(chats.c.id == chat, chats.c.away != away).values(away=away))

    async def rename(self, chat: Chat, chat_ref: int) -> None:
        """Let the chat be known by ``chat_ref``, and the number that it had lead to it."""
        await self._number(chat.id, chat_ref)
        await self.point(chat.chat_ref, chat)

    async def point(self, chat_ref: int, chat: Chat) -> None:
        """Let ``chat_ref``, which is no chat's number, lead to ``chat``."""
        former = insert(self._transaction.dialect, chats).values(
            id=self._mint(ids.CHAT), chat_ref=chat_ref, private=False, title="", moved_to=chat.id
        )
        await self._transaction.write(former.on_conflict_do_nothing())

    async def merge(self, stays: Chat, goes: Chat, *, new_ref: int, old_ref: int) -> list[RoomId]:
        """Make one chat of two: ``stays`` is known as ``new_ref``, and ``goes``, as ``old_ref``, leads to it.

        A room of ``goes`` becomes one of ``stays`` where there is none at its place; answers the others.
        """
        await self._number(goes.id, _NOWHERE)
        await self._number(stays.id, new_ref)
        await self._number(goes.id, old_ref)
        leads_there = or_(chats.c.id == goes.id, chats.c.moved_to == goes.id)
        await self._transaction.write(update(chats).where(leads_there).values(moved_to=stays.id))
        taken = select(rooms.c.thread).where(rooms.c.chat == stays.id)
        free = update(rooms).where(rooms.c.chat == goes.id, rooms.c.thread.not_in(taken))
        await self._transaction.write(free.values(chat=stays.id))
        crowded = await self._transaction.rows(select(rooms.c.id).where(rooms.c.chat == goes.id).order_by(rooms.c.id))
        return [RoomId(row.id) for row in crowded]

    async def _number(self, chat: ChatId, chat_ref: int) -> None:
        await self._transaction.write(update(chats).where(chats.c.id == chat).values(chat_ref=chat_ref))


def _chat(row: Row[Any]) -> Chat:
    return Chat(ChatId(row.id), row.chat_ref, row.moved_to is not None, row.away)
