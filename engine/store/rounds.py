"""Rounds. Every change of state is guarded by the state it leaves, so of two racing closers one is first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Row, and_, func, or_, select, text, update

from engine.game.clock import SLACK_MS
from engine.game.model import CloseReason, Round, RoundState
from engine.ids import PlayerId, RoomId, RoundId
from engine.store import tables
from engine.store.dialect import insert, one_of
from engine.store.transaction import Transaction

_rounds: Final = tables.rounds
_AS_THEY_ARE: Final = (
    "number",
    "theme",
    "keyboard",
    "secret",
    "nonce",
    "commitment",
    "opened_ms",
    "minutes",
    "deadline_ms",
    "remaining_ms",
    "closing_seq",
    "settled_ms",
)
# Spelled as the partial index has it: a parameter in its place would keep PostgreSQL from using the index.
_unsettled = text(tables.UNSETTLED)


class SqlRounds:
    """Implements ``engine.game.ports.Rounds``."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    async def add(self, round_: Round) -> bool:
        """Open a round; False where the room has one that is not settled, or has just used the number."""
        statement = (
            insert(self._transaction.dialect, _rounds)
            .values(
                id=round_.id,
                room=round_.room,
                number=round_.number,
                theme=round_.theme,
                keyboard=round_.keyboard,
                secret=round_.secret,
                nonce=round_.nonce,
                commitment=round_.commitment,
                state=round_.state,
                opened_ms=round_.opened_ms,
                minutes=round_.minutes,
                deadline_ms=round_.deadline_ms,
                remaining_ms=round_.remaining_ms,
                closing_seq=round_.closing_seq,
                close_reason=round_.close_reason,
                winner=round_.winner,
                settled_ms=round_.settled_ms,
            )
            .on_conflict_do_nothing()
            .returning(_rounds.c.id)
        )
        return bool(await self._transaction.written(statement))

    async def get(self, round_: RoundId) -> Round | None:
        """The round, or None."""
        row = await self._transaction.row(select(_rounds).where(_rounds.c.id == round_))
        return None if row is None else round_of(row)

    async def many(self, rounds: Sequence[RoundId]) -> dict[RoundId, Round]:
        """Those of ``rounds`` that exist."""
        found = await self._transaction.rows(
            select(_rounds).where(one_of(self._transaction.dialect, _rounds.c.id, rounds))
        )
        return {RoundId(row.id): round_of(row) for row in found}

    async def running(self, room: RoomId) -> Round | None:
        """The room's open or closing round, or None."""
        row = await self._transaction.row(select(_rounds).where(_rounds.c.room == room, _unsettled))
        return None if row is None else round_of(row)

    async def newest(self, room: RoomId) -> Round | None:
        """The room's round with the highest number, whatever its state, or None."""
        statement = select(_rounds).where(_rounds.c.room == room).order_by(_rounds.c.number.desc()).limit(1)
        row = await self._transaction.row(statement)
        return None if row is None else round_of(row)

    async def next_number(self, room: RoomId) -> int:
        """1 for a room's first round, then one more each time."""
        row = await self._transaction.row(
            select(func.coalesce(func.max(_rounds.c.number), 0)).where(_rounds.c.room == room)
        )
        return 1 if row is None else int(row[0]) + 1

    async def close(self, round_: RoundId, closing_seq: int, reason: CloseReason) -> bool:
        """Open -> closing (True). On a closing round that was cracked, only lowers ``closing_seq`` (False)."""
        closed = await self._transaction.write(
            update(_rounds)
            .where(_rounds.c.id == round_, _rounds.c.state == RoundState.OPEN)
            .values(state=RoundState.CLOSING, closing_seq=closing_seq, close_reason=reason)
        )
        if closed:
            return True
        await self._transaction.write(
            update(_rounds)
            .where(
                _rounds.c.id == round_,
                _rounds.c.state == RoundState.CLOSING,
                _rounds.c.close_reason == CloseReason.CRACKED,
                _rounds.c.closing_seq > closing_seq,
            )
            .values(closing_seq=closing_seq)
        )
        return False

    async def settle(self, round_: RoundId, winner: PlayerId | None, settled_ms: int) -> bool:
        """Closing -> settled; False where another closer was first."""
        settled = await self._transaction.write(
            update(_rounds)
            .where(_rounds.c.id == round_, _rounds.c.state == RoundState.CLOSING)
            .values(state=RoundState.SETTLED, winner=winner, settled_ms=settled_ms)
        )
        return settled == 1

    async def set_clock(self, round_: RoundId, *, deadline_ms: int | None, remaining_ms: int | None) -> bool:
        """Stop or restart an open round's clock: exactly one of the two is set. False where it is not open any more."""
        moved = await self._transaction.write(
            update(_rounds)
            .where(_rounds.c.id == round_, _rounds.c.state == RoundState.OPEN)
            .values(deadline_ms=deadline_ms, remaining_ms=remaining_ms)
        )
        return moved == 1

    async def unsettled(self, due_ms: int) -> list[Round]:
        """Closing rounds, and open ones whose deadline is at or before ``due_ms``, or astray by then."""
        is_open = _rounds.c.state == RoundState.OPEN
        astray = _rounds.c.deadline_ms - _rounds.c.minutes * 60_000 > due_ms + SLACK_MS
        due = and_(is_open, or_(_rounds.c.deadline_ms <= due_ms, astray))
        # Sorted here: an ORDER BY draws SQLite to the primary key, through every round there ever was.
        found = await self._transaction.rows(
            select(_rounds).where(_unsettled, or_(_rounds.c.state == RoundState.CLOSING, due))
        )
        return sorted((round_of(row) for row in found), key=lambda round_: round_.id)


def round_of(row: Row[Any], prefix: str = "") -> Round:
    """The round that a row has in columns of these names."""
    has = row._mapping  # noqa: SLF001 - SQLAlchemy's public name
    reason, winner = has[f"{prefix}close_reason"], has[f"{prefix}winner"]
    return Round(
        **{name: has[prefix + name] for name in _AS_THEY_ARE},
        id=RoundId(has[f"{prefix}id"]),
        room=RoomId(has[f"{prefix}room"]),
        state=RoundState(has[f"{prefix}state"]),
        close_reason=None if reason is None else CloseReason(reason),
        winner=None if winner is None else PlayerId(winner),
    )
