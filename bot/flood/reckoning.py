"""What SQL and the chats know of guesses that were said."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from typing import Any, Final

from sqlalchemy import ColumnElement, Double, bindparam, column, func, literal, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.fake_telegram import FakeTelegram
from bot.flood.samples import Fate, Guess
from engine.game.notices import Refusal
from engine.ids import NOTICE, RoomId
from engine.store.database import Database
from engine.store.dialect import POSTGRESQL
from engine.store.tables import chats, guesses, outbox, rooms, rounds

_ANSWERS: Final = re.compile(r"^\S+ \u2068R\d+P\d+\u2069: (?:(?P<totals>\d+(?: · \d+)*)|(?P<count>[\d,]+) guess)")
"""A line that tells the totals of a player's guesses, or how many they were."""
Key = tuple[int, int]
"""Chat and message."""
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


async def reckon(database: Database, said: Mapping[Key, Guess], *, exact: bool) -> None:
    """Write down what became of ``said``; who is not found keeps the fate they have.

    Args:
        database: the product's.
        said: by chat and message.
        exact: whether the server keeps the times of commits; else a guess was scored when its answer's row was made.
    """
    chat_refs = sorted({chat for chat, _ in said})
    async with database.reading() as connection:
        async for row in _scored(connection, chat_refs, exact=exact):
            guess = said.get((row.chat_ref, row.message_ref))
            if guess is not None:
                guess.fate, guess.scored_ms, guess.answered_ms = Fate.SCORED, row.scored_ms, row.sent_ms
        async for row in _refused(connection, chat_refs):
            guess, notice = said.get((row.reply_chat_ref, row.reply_to)), json.loads(row.body)
            if guess is not None and notice["reason"] == Refusal.ROOM_FULL:
                guess.fate, guess.refused_ms, guess.answered_ms = Fate.REFUSED, row.created_ms, row.sent_ms
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


def told_twice(telegram: FakeTelegram, said: Mapping[Key, Guess]) -> int:
    """Answers that chats showed and for which there is no guess that was scored."""
    scored = Counter(chat for (chat, _), guess in said.items() if guess.fate is Fate.SCORED)
    shown: Counter[int] = Counter()
    for chat, count in _shown(telegram):
        shown[chat] += count
    return sum(max(0, count - scored[chat]) for chat, count in shown.items() if chat in scored)


def _shown(telegram: FakeTelegram) -> Iterator[tuple[int, int]]:
    """Chats, and how many guesses a line there answers."""
    for entry in telegram.ledger.entries:
        for line in entry.text.splitlines():
            found = _ANSWERS.match(line)
            if found:
                count = found["count"]
                told = int(count.replace(",", "")) if count else len(found["totals"].split(" · "))
                yield entry.chat_id, told
