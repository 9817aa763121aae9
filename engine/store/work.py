"""Units of work on SQL: the store's half of the game's ports."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from engine.game.model import Account, Place, Scene
from engine.game.places import Chats
from engine.game.plans import Plans
from engine.game.ports import Guesses, Outbox, Rooms, Rounds
from engine.game.request import Inbox
from engine.store.aside import SqlAside
from engine.store.chats import SqlChats
from engine.store.database import Database
from engine.store.guesses import SqlGuesses
from engine.store.inbox import SqlInbox
from engine.store.outbox import SqlOutbox
from engine.store.plans import SqlPlans
from engine.store.rooms import SqlRooms
from engine.store.rounds import SqlRounds
from engine.store.scenes import Scenes
from engine.store.transaction import Transaction


class SqlUnitOfWork:
    """One transaction; leaving it without ``commit`` rolls back. It ends at its commit or where it is left.

    Raises:
        UnitEnded: from every method, after that.
        ReadOnlyUnit: from every method that writes, in a unit that only reads.
    """

    def __init__(self, transaction: Transaction, mint: Callable[[str], str]) -> None:
        self._transaction = transaction
        self.chats: Chats = SqlChats(transaction, mint)
        self.rooms: Rooms = SqlRooms(transaction, mint)
        self.plans: Plans = SqlPlans(transaction)
        self.inbox: Inbox = SqlInbox(transaction)
        self.rounds: Rounds = SqlRounds(transaction)
        self.guesses: Guesses = SqlGuesses(transaction)
        self.outbox: Outbox = SqlOutbox(transaction)
        self.aside = SqlAside(transaction)

    async def commit(self) -> None:
        """Make it so, and end the unit."""
        await self._transaction.commit()


class SqlUnits:
    """Opens units of work on ``database``.

    On SQLite a process has one writing unit at a time, the others queue: never open a second one inside the first.

    Args:
        database: stays the caller's to close.
        mint: makes an id of the kind it is given (``Minter.mint``).
    """

    def __init__(self, database: Database, mint: Callable[[str], str]) -> None:
        self._database = database
        self._mint = mint
        self._scenes = Scenes(database)

    async def scene(self, place: Place, account: Account | None) -> Scene:
        """What a guess at ``place`` is read against; guesses that come together share one transaction."""
        return await self._scenes.at(place, account)

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[SqlUnitOfWork]:
        """A transaction that may write."""
        async with self._database.writing() as connection:
            transaction = Transaction(connection, self._database.where, writes=True)
            try:
                yield SqlUnitOfWork(transaction, self._mint)
            finally:
                transaction.end()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[SqlUnitOfWork]:
        """A transaction that sees one snapshot and waits for no writer."""
        async with self._database.reading() as connection:
            transaction = Transaction(connection, self._database.where, writes=False)
            try:
                yield SqlUnitOfWork(transaction, self._mint)
            finally:
                transaction.end()
