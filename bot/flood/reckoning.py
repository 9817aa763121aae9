"""What SQL and the chats know of guesses that were said."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from typing import Any, Final

from sqlalchemy import ColumnElement, Double, bindparam, column, func, literal, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.fake_telegram import Shown
from bot.fake_telegram.ledger import Ledger
from bot.flood.samples import Clock, Fate, Guess
from engine.game.notices import Refusal
from engine.ids import NOTICE, RoomId
from engine.store.database import Database
from engine.store.dialect import POSTGRESQL
from engine.store.tables import chats, guesses, outbox, rooms, rounds

_ANSWERS: Final = re.compile(
    r"^\S+ \u2068R(?P<room>\d+)P(?P<player>\d+)\u2069: (?:(?P<count>[\d,]+) guess|(?P<totals>\d+(?: · \d+)*))"
)
"""A line that tells the totals of a player's guesses, or how many they were."""
Key = tuple[int, int]
"""Chat and message."""
_Player = tuple[int, int]
"""The numbers of a room, and of a player in it: their names carry them."""
_KIND: Final = 3
_MS: Final = 1_000.0


async def times_of_commits(database: Database) -> bool:
    """Whether the server keeps the times of commits."""
    if database.dialect != POSTGRESQL:
        return False
    async with database.reading() as connection:
        kept = (await connection.execute(text("SHOW track_commit_timestamp"))).scalar_one()
    return str(kept) == "on"


async def opened_rounds(database: Database, chat_refs: Collection[int]) -> dict[int, tuple[RoomId, tuple[str, ...]]]:
    """By the chats' numbers: their rooms, and the keyboards of the rounds that are open there."""
    statement = (
        select(chats.c.chat_ref, rooms.c.id, rounds.c.keyboard)
        .join(rooms, rooms.c.chat == chats.c.id)
        .join(rounds, rounds.c.room == rooms.c.id)
        .where(chats.c.chat_ref.in_(chat_refs), rounds.c.state == "open")
    )
    async with database.reading() as connection:
        return {row.chat_ref: (RoomId(row.id), row.keyboard) for row in await connection.execute(statement)}


async def reckon(database: Database, said: Mapping[Key, Guess], clock: Clock, *, exact: bool) -> None:
    """Write down what became of ``said``; who is not found keeps the fate they have.

    Args:
        database: the product's.
        said: by chat and message.
        clock: by which they were said.
        exact: whether the server keeps the times of commits; else a guess was scored when its answer's row was made.
    """
    chat_refs = sorted({chat for chat, _ in said})
    async with database.reading() as connection:
        async for row in _scored(connection, chat_refs, exact=exact):
            guess = said.get((row.chat_ref, row.message_ref))
            if guess is not None:
                guess.fate, guess.scored_ms = Fate.SCORED, clock.of_wall(row.scored_ms)
                guess.answered_ms = None if row.sent_ms is None else clock.of_wall(row.sent_ms)
        async for row in _refused(connection, chat_refs):
            guess, notice = said.get((row.reply_chat_ref, row.reply_to)), json.loads(row.body)
            if guess is not None and notice["reason"] == Refusal.ROOM_FULL:
                guess.fate, guess.refused_ms = Fate.REFUSED, clock.of_wall(row.created_ms)
                guess.answered_ms = None if row.sent_ms is None else clock.of_wall(row.sent_ms)
                guess.eta_ms, guess.behind = notice["eta_ms"], notice["got"] or 0


async def _scored(connection: AsyncConnection, chat_refs: Collection[int], *, exact: bool) -> AsyncIterator[Any]:
    answer = literal(NOTICE) + func.substr(guesses.c.job, _KIND + 1)
    committed = func.pg_xact_commit_timestamp(column("xmin", _selectable=guesses))
    exactly: ColumnElement[Any] = func.extract("epoch", committed).cast(Double) * _MS
    at_ms = exactly if exact else outbox.c.created_ms
    statement = (
        select(guesses.c.chat_ref, guesses.c.message_ref, at_ms.label("scored_ms"), outbox.c.sent_ms)
        .join(outbox, outbox.c.id == answer, isouter=True)
        .where(guesses.c.chat_ref.in_(bindparam("chats", expanding=True)))
    )
    async with connection.stream(statement, {"chats": chat_refs}) as rows:
        async for row in rows:
            yield row


async def _refused(connection: AsyncConnection, chat_refs: Collection[int]) -> AsyncIterator[Any]:
    statement = select(
        outbox.c.reply_chat_ref, outbox.c.reply_to, outbox.c.body, outbox.c.created_ms, outbox.c.sent_ms
    ).where(outbox.c.kind == "refused", outbox.c.reply_chat_ref.in_(chat_refs))
    async with connection.stream(statement) as rows:
        async for row in rows:
            yield row


def count_told(ledger: Ledger, said: Mapping[Key, Guess], *, settled: bool) -> tuple[int, int]:
    """How many answers chats showed too often, and how many never; each player by themselves.

    Args:
        ledger: what chats showed.
        said: by chat and message.
        settled: whether nothing is on its way to a chat any more. Then an answer that SQL calls unsent was not due;
            else it may be shown and not marked yet.
    """
    scored, due = Counter[_Player](), Counter[_Player]()
    for guess in said.values():
        if guess.fate is Fate.SCORED:
            scored[guess.room, guess.player] += 1
            due[guess.room, guess.player] += guess.answered_ms is not None or not settled
    shown = Counter[_Player]()
    for player, count in _shown(ledger):
        shown[player] += count
    twice = sum(max(0, count - due[player]) for player, count in shown.items())
    return twice, sum(max(0, count - shown[player]) for player, count in scored.items()) if settled else 0


def _shown(ledger: Ledger) -> Iterator[tuple[_Player, int]]:
    """Players, and how many guesses a line answers."""
    for entry in ledger.entries:
        for line in entry.text.splitlines() if entry.shown is Shown.SENT else ():
            found = _ANSWERS.match(line)
            if found:
                count = found["count"]
                told = int(count.replace(",", "")) if count else len(found["totals"].split(" · "))
                yield (int(found["room"]), int(found["player"])), told


async def owed(database: Database, chat_refs: Collection[int]) -> int:
    """How many notices these chats are still owed."""
    statement = (
        select(func.count())
        .select_from(outbox.join(chats, chats.c.id == outbox.c.chat))
        .where(outbox.c.sent_ms.is_(None), outbox.c.dropped_ms.is_(None), chats.c.chat_ref.in_(chat_refs))
    )
    async with database.reading() as connection:
        return int((await connection.execute(statement)).scalar_one())
