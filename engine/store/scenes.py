"""Scenes: what a guess is read against, for many guesses in one look.

The statements are built once: building one, and finding what it was compiled to, takes longer than running it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Row, Select, and_, func, select, text

from engine.game.model import Account, Place, Player, Room, Round, Scene
from engine.ids import PlayerId
from engine.store.convoy import Convoy
from engine.store.database import Database
from engine.store.dialect import one_of_given
from engine.store.rooms import room_of, select_rooms
from engine.store.rounds import round_of
from engine.store.tables import UNSETTLED, chats, players, rooms, rounds
from engine.store.text import storable
from engine.store.transaction import Transaction

Asked = tuple[Place, Account | None]
_ROUND: Final = "round_"


class Scenes:
    """Looks scenes up on ``database``; those that are asked for at the same time are looked up together."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._places = _places(database.dialect)
        self._accounts = select(players).where(one_of_given(database.dialect, players.c.account_ref, "accounts"))
        self._look = Convoy(self._look_up)

    async def at(self, place: Place, account: Account | None) -> Scene:
        """The scene at ``place`` for ``account``, as it stands after this was asked."""
        return await self._look((place, account))

    async def _look_up(self, asked: Sequence[Asked]) -> list[Scene]:
        accounts = {account.account_ref for _, account in asked if account is not None}
        wanted = {
            "chats": list({place.chat_ref for place, _ in asked}),
            "threads": list({place.thread for place, _ in asked}),
        }
        async with self._database.reading() as connection:
            transaction = Transaction(connection, self._database.where, writes=False)
            there = await transaction.rows(self._places, wanted)
            known = await transaction.rows(self._accounts, {"accounts": list(accounts)}) if accounts else []
        found = {(row.asked_ref, row.thread): _found(row) for row in there}
        named = {row.account_ref: Player(PlayerId(row.id), row.account_ref, row.name) for row in known}
        scenes = []
        for place, account in asked:
            room, round_ = found.get((place.chat_ref, place.thread), (None, None))
            player = None if account is None else named.get(account.account_ref)
            if account is not None and player is not None and player.name != storable(account.name):
                player = None
            scenes.append(Scene(room, round_, player))
        return scenes


def _places(dialect: str) -> Select[Any]:
    """Every pair of the chats and threads that are asked for; few of them are in more than one chat.

    A number that a chat had before it moved leads to where it is now.
    """
    known = chats.alias("known")
    running = and_(rounds.c.room == rooms.c.id, text(f"rounds.{UNSETTLED}"))
    labelled = [column.label(f"{_ROUND}{column.name}") for column in rounds.c]
    return (
        select_rooms(known.c.chat_ref.label("asked_ref"), *labelled)
        .join(known, rooms.c.chat == func.coalesce(known.c.moved_to, known.c.id))
        .outerjoin(rounds, running)
        .where(one_of_given(dialect, known.c.chat_ref, "chats"), one_of_given(dialect, rooms.c.thread, "threads"))
    )


def _found(row: Row[Any]) -> tuple[Room, Round | None]:
    return room_of(row), None if row.round_id is None else round_of(row, _ROUND)
