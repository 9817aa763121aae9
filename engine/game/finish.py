"""Photo finish: the winner is the winning guess with the smallest seq, whatever lane it rode."""

from __future__ import annotations

from collections.abc import Iterable

from engine.game.model import CloseReason, Round, RoundState
from engine.game.scoring import WINNING_TOTAL


def crack_seq(scored: Iterable[tuple[int, int]]) -> int | None:
    """The smallest seq among those (seq, total) that cracked the secret, or None."""
    return min((seq for seq, total in scored if total == WINNING_TOTAL), default=None)


def last_seq(round_: Round, crack: int | None) -> int | None:
    """The last seq that counts in ``round_`` once a crack at ``crack`` is known; None while there is no end to it.

    A crack ends an open round, and an earlier one brings a cracked round's end forward. A round that its clock or
    an admin ended keeps its end: what was accepted by then counts, though another's crack came before it.
    """
    if round_.state is RoundState.OPEN:
        return crack
    if crack is None or round_.closing_seq is None or round_.close_reason is not CloseReason.CRACKED:
        return round_.closing_seq
    return min(round_.closing_seq, crack)


def counts(round_: Round, seq: int, crack: int | None = None) -> bool:
    """Whether the guess at ``seq`` still counts in ``round_``; nothing does once it is settled."""
    if round_.state is RoundState.SETTLED:
        return False
    last = last_seq(round_, crack)
    return last is None or seq <= last


def is_finished(round_: Round, oldest: int | None) -> bool:
    """Whether a closing round may be settled: no guess up to its end is still on the lanes.

    Args:
        round_: the round.
        oldest: the smallest seq of the room that is not done, or None; it must be read before the round's scores are.
    """
    if round_.state is not RoundState.CLOSING or round_.closing_seq is None:
        return False
    return oldest is None or oldest > round_.closing_seq
