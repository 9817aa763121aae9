"""Guesses, standings and memberships: what scoring writes, in batches.

Every statement touches its rows in one order (guesses by source, then standings, then memberships by key), so
workers whose batches overlap wait for each other and never in a circle.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import and_, case, or_, select

from engine.game.model import Membership, ScoredGuess, Source, Standing
from engine.game.scoring import WINNING_TOTAL
from engine.ids import JobId, PlayerId, RoomId, RoundId
from engine.store import tables
from engine.store.dialect import insert, insert_rows
from engine.store.tables import memberships, standings
from engine.store.transaction import Transaction

_guesses: Final = tables.guesses


@dataclass(slots=True)
class _Tally:
    """What a batch adds to one standing or membership."""

    best_total: int = 0
    best_seq: int = 0
    guesses: int = 0

    def add(self, guess: ScoredGuess) -> None:
        first = self.guesses == 0
        better = guess.total > self.best_total or (guess.total == self.best_total and guess.seq < self.best_seq)
        if first or better:
            self.best_total, self.best_seq = guess.total, guess.seq
        self.guesses += 1


class SqlGuesses:
    """Implements ``engine.game.ports.Guesses``."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    async def record(self, guesses: Sequence[ScoredGuess]) -> set[JobId]:
        """Insert guesses and bring standings and memberships up to date for those that are new and counted.

        Answers the job ids that are new. One that is missing was there by its job id or by its source, or stood
        earlier in ``guesses``.
        """
        if not guesses:
            return set()
        batch = _in_order(guesses)
        statement, values = insert_rows(self._transaction.dialect, _guesses, [_row(guess) for guess in batch])
        # No conflict target: the job id and the source are both reasons to skip.
        statement = statement.on_conflict_do_nothing()
        rows = await self._transaction.written(statement.returning(_guesses.c.job), values)
        new = {JobId(row.job) for row in rows}
        counted = [guess for guess in batch if guess.counted and guess.job in new]
        if counted:
            await self._raise_standings(counted)
            await self._raise_memberships(counted)
        return new

    async def taken(self, source: Source) -> bool:
        """Whether the message has a row: it was a guess, and was scored."""
        mine = (_guesses.c.chat_ref == source.chat_ref, _guesses.c.message_ref == source.message_ref)
        return await self._transaction.row(select(_guesses.c.job).where(*mine)) is not None

    async def standings(self, round_: RoundId) -> list[Standing]:
        """Best total first, then the smaller seq that reached it."""
        found = await self._transaction.rows(
            select(standings)
            .where(standings.c.round == round_)
            .order_by(standings.c.best_total.desc(), standings.c.best_seq)
        )
        return [Standing(PlayerId(row.player), row.best_total, row.best_seq, row.guesses) for row in found]

    async def winner(self, round_: RoundId, closing_seq: int) -> PlayerId | None:
        """Who holds the winning guess with the smallest seq up to ``closing_seq``.

        A player's smallest winning seq is their standing's ``best_seq``, so standings answer it.
        """
        row = await self._transaction.row(
            select(standings.c.player)
            .where(
                standings.c.round == round_,
                standings.c.best_total == WINNING_TOTAL,
                standings.c.best_seq <= closing_seq,
            )
            .order_by(standings.c.best_seq)
            .limit(1)
        )
        return None if row is None else PlayerId(row.player)

    async def won(self, room: RoomId, player: PlayerId) -> None:
        """Count a win in the player's membership."""
        statement = insert(self._transaction.dialect, memberships)
        await self._transaction.write(
            statement.values(room=room, player=player, guesses=0, best_total=0, wins=1).on_conflict_do_update(
                index_elements=["room", "player"], set_={"wins": memberships.c.wins + 1}
            )
        )

    async def membership(self, room: RoomId, player: PlayerId) -> Membership | None:
        """The player's record in the room, or None before a first guess."""
        row = await self._transaction.row(
            select(memberships).where(memberships.c.room == room, memberships.c.player == player)
        )
        return None if row is None else Membership(PlayerId(row.player), row.guesses, row.best_total, row.wins)

    async def _raise_standings(self, counted: Iterable[ScoredGuess]) -> None:
        statement, values = insert_rows(self._transaction.dialect, standings, _standing_rows(counted))
        had, got = standings.c, statement.excluded
        earlier = and_(got.best_total == had.best_total, got.best_seq < had.best_seq)
        moves = or_(got.best_total > had.best_total, earlier)
        statement = statement.on_conflict_do_update(
            index_elements=["round", "player"],
            set_={
                "best_total": case((moves, got.best_total), else_=had.best_total),
                "best_seq": case((moves, got.best_seq), else_=had.best_seq),
                "guesses": had.guesses + got.guesses,
            },
        )
        await self._transaction.write(statement, values)

    async def _raise_memberships(self, counted: Iterable[ScoredGuess]) -> None:
        statement, values = insert_rows(self._transaction.dialect, memberships, _membership_rows(counted))
        had, got = memberships.c, statement.excluded
        statement = statement.on_conflict_do_update(
            index_elements=["room", "player"],
            set_={
                "best_total": case((got.best_total > had.best_total, got.best_total), else_=had.best_total),
                "guesses": had.guesses + got.guesses,
            },
        )
        await self._transaction.write(statement, values)


def _in_order(scored: Iterable[ScoredGuess]) -> list[ScoredGuess]:
    """Each job once, by source: a job's source never changes, so every worker inserts in the same order."""
    ordered = sorted(scored, key=lambda guess: (guess.source.chat_ref, guess.source.message_ref, guess.job))
    once: dict[JobId, ScoredGuess] = {}
    for guess in ordered:
        once.setdefault(guess.job, guess)
    return list(once.values())


def _row(guess: ScoredGuess) -> dict[str, object]:
    return {
        "job": guess.job,
        "round": guess.round,
        "player": guess.player,
        "codes": guess.codes,
        "total": guess.total,
        "seq": guess.seq,
        "counted": guess.counted,
        "chat_ref": guess.source.chat_ref,
        "message_ref": guess.source.message_ref,
        "accepted_ms": guess.accepted_ms,
    }


def _standing_rows(counted: Iterable[ScoredGuess]) -> list[dict[str, object]]:
    tallies: dict[tuple[RoundId, PlayerId], _Tally] = {}
    for guess in counted:
        tallies.setdefault((guess.round, guess.player), _Tally()).add(guess)
    return [
        {
            "round": round_,
            "player": player,
            "best_total": tally.best_total,
            "best_seq": tally.best_seq,
            "guesses": tally.guesses,
        }
        for (round_, player), tally in sorted(tallies.items())
    ]


def _membership_rows(counted: Iterable[ScoredGuess]) -> list[dict[str, object]]:
    tallies: dict[tuple[RoomId, PlayerId], _Tally] = {}
    for guess in counted:
        tallies.setdefault((guess.room, guess.player), _Tally()).add(guess)
    return [
        {"room": room, "player": player, "best_total": tally.best_total, "guesses": tally.guesses, "wins": 0}
        for (room, player), tally in sorted(tallies.items())
    ]
