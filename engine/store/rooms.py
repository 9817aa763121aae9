"""Chats, rooms and players: known by the outer world's numbers, named by our ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, Select, exists, func, or_, select, text, update

from engine import ids
from engine.game.model import Account, Place, Plan, Player, Room
from engine.ids import ChatId, PlayerId, RoomId
from engine.store.dialect import insert, one_of
from engine.store.plans import levers_of
from engine.store.tables import UNSETTLED, chats, plans, players, rooms, rounds
from engine.store.text import storable
from engine.store.transaction import Transaction

_LEVERS: Final = ("plan", "weight", "ceiling", "cap", "lane_cap", "chat_limit", "held_until_ms")
_AT_ONCE: Final = 500  # SQLite takes a limited number of values in one statement


class SqlRooms:
    """Implements ``engine.game.ports.Rooms``.

    Names and titles are kept as they came, save what no database keeps (see ``engine.store.text``).
    """

    def __init__(self, transaction: Transaction, mint: Callable[[str], str]) -> None:
        self._transaction = transaction
        self._mint = mint

    async def at(self, place: Place) -> Room:
        """The room at ``place``, made (with its chat) if it is new; two first comers get the same one."""
        row = await self._at(place)
        if row is None:
            await self._add(place)
            row = await self._at(place)
        if row is None:
            raise RuntimeError("a room vanished while it was being made; rooms are never deleted")
        title = storable(place.title)
        if row.title != title or row.chat_away:
            # Whoever hears from a chat can speak to it, until it is told otherwise.
            await self._transaction.write(update(chats).where(chats.c.id == row.chat).values(title=title, away=False))
        return room_of(row)

    async def find(self, place: Place) -> Room | None:
        """The room at ``place``, or None; writes nothing."""
        row = await self._at(place)
        return None if row is None else room_of(row)

    async def get(self, room: RoomId) -> Room | None:
        """The room, or None."""
        row = await self._transaction.row(select_rooms().where(rooms.c.id == room))
        return None if row is None else room_of(row)

    async def many(self, wanted: Sequence[RoomId]) -> list[Room]:
        """Those of ``wanted`` that exist."""
        found: list[Room] = []
        for at in range(0, len(wanted), _AT_ONCE):
            among = one_of(self._transaction.dialect, rooms.c.id, wanted[at : at + _AT_ONCE])
            found += [room_of(row) for row in await self._transaction.rows(select_rooms().where(among))]
        return found

    async def titles(self, wanted: Sequence[str]) -> dict[str, str]:
        """What the chats of these rooms (or these chats themselves) are called; unknown ids are left out."""
        dialect = self._transaction.dialect
        titled: dict[str, str] = {}
        for at in range(0, len(wanted), _AT_ONCE):
            portion = wanted[at : at + _AT_ONCE]
            of_rooms = select(rooms.c.id, chats.c.title).join(chats, chats.c.id == rooms.c.chat)
            of_chats = select(chats.c.id, chats.c.title)
            for statement in (
                of_rooms.where(one_of(dialect, rooms.c.id, portion)),
                of_chats.where(one_of(dialect, chats.c.id, portion)),
            ):
                titled.update((row.id, row.title) for row in await self._transaction.rows(statement))
        return titled

    async def lock(self, room: RoomId) -> Room:
        """The room as it stands, and nobody else's before this unit ends: its changes go one after another.

        PostgreSQL locks the row, and leaves those alone who only refer to it; on SQLite a writer is alone anyway.
        """
        locked = select_rooms().where(rooms.c.id == room).with_for_update(of=rooms, key_share=True)
        rows = await self._transaction.written(locked)
        if not rows:
            raise RuntimeError(f"room {room} has no row to lock; rooms are never deleted")
        return room_of(rows[0])

    async def plays(self, player: PlayerId) -> bool:
        """Whether there is such a player."""
        return await self._transaction.row(select(players.c.id).where(players.c.id == player)) is not None

    async def player(self, account: Account) -> Player:
        """The player of ``account``, made if new; its name is brought up to date."""
        name = storable(account.name)
        row = await self._player(account)
        if row is None:
            await self._transaction.write(
                insert(self._transaction.dialect, players)
                .values(id=self._mint(ids.PLAYER), account_ref=account.account_ref, name=name)
                .on_conflict_do_nothing()
            )
            row = await self._player(account)
        if row is None:
            raise RuntimeError("a player vanished while being made; players are never deleted")
        if row.name != name:
            await self._transaction.write(update(players).where(players.c.id == row.id).values(name=name))
        return Player(PlayerId(row.id), row.account_ref, name)

    async def pause(self, room: RoomId, *, paused: bool, away: bool = False) -> None:
        """Write the pause lever, and whether it is only for the bot's absence."""
        await self._transaction.write(update(rooms).where(rooms.c.id == room).values(paused=paused, away=away))

    async def limit(self, room: RoomId, limit: int | None) -> None:
        """Write the chat's own limit."""
        await self._transaction.write(update(rooms).where(rooms.c.id == room).values(chat_limit=limit))

    async def pulled(self) -> list[Room]:
        """Every room that has a lever set or an unsettled round: what a healed Redis must hear again."""
        unsettled = exists().where(rounds.c.room == rooms.c.id, text(f"rounds.{UNSETTLED}"))
        set_ = (rooms.c[name].is_not(None) for name in _LEVERS)
        levers = or_(rooms.c.paused, *set_)
        found = await self._transaction.rows(select_rooms().where(or_(levers, unsettled)).order_by(rooms.c.id))
        return [room_of(row) for row in found]

    async def _at(self, place: Place) -> Row[Any] | None:
        # A number that a chat had before it moved leads to where it is now.
        known = chats.alias("known")
        chat = (
            select(func.coalesce(known.c.moved_to, known.c.id))
            .where(known.c.chat_ref == place.chat_ref)
            .scalar_subquery()
        )
        return await self._transaction.row(select_rooms().where(rooms.c.chat == chat, rooms.c.thread == place.thread))

    async def _add(self, place: Place) -> None:
        """Make chat and room; whoever else is making them is waited for, and theirs are taken."""
        dialect = self._transaction.dialect
        chat = insert(dialect, chats).values(
            id=self._mint(ids.CHAT), chat_ref=place.chat_ref, private=place.private, title=storable(place.title)
        )
        await self._transaction.write(chat.on_conflict_do_nothing())
        known = select(func.coalesce(chats.c.moved_to, chats.c.id)).where(chats.c.chat_ref == place.chat_ref)
        room = insert(dialect, rooms).values(
            id=self._mint(ids.ROOM), chat=known.scalar_subquery(), thread=place.thread, paused=False
        )
        await self._transaction.write(room.on_conflict_do_nothing())

    async def _player(self, account: Account) -> Row[Any] | None:
        return await self._transaction.row(select(players).where(players.c.account_ref == account.account_ref))


def select_rooms(*more: ColumnElement[Any]) -> Select[Any]:
    """Rooms with their chats and plans: what ``room_of`` reads, and ``more`` columns."""
    plan = [column.label(f"plan_{column.name}") for column in plans.c]
    return (
        select(rooms, chats.c.chat_ref, chats.c.private, chats.c.title, chats.c.away.label("chat_away"), *plan, *more)
        .join(chats, chats.c.id == rooms.c.chat)
        .outerjoin(plans, plans.c.name == rooms.c.plan)
    )


def room_of(row: Row[Any]) -> Room:
    """The room that a row of ``select_rooms`` is."""
    return Room(
        id=RoomId(row.id),
        chat=ChatId(row.chat),
        chat_ref=row.chat_ref,
        thread=row.thread,
        private=row.private,
        paused=row.paused,
        plan=None if row.plan is None else Plan(row.plan, levers_of(row, "plan_")),
        own=levers_of(row),
        chat_limit=row.chat_limit,
        held_until_ms=row.held_until_ms,
        away=row.away,
    )
