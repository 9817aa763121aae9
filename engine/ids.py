"""Branded ids: 14 ASCII bytes, three capital letters naming the kind, then 11 base62 digits of a snowflake.

Inside one kind, byte order = integer order = mint order. The snowflake is
``ts(41 bits, ms since EPOCH_MS) << 22 | node(10) << 12 | seq(12)``.

Errors::

    ValueError
    └── BadId          not an id of the kind asked for
    RuntimeError
    └── NodeLost       this process no longer holds its node number, so it must not mint
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from typing import Final, NewType

RoomId = NewType("RoomId", str)
PlayerId = NewType("PlayerId", str)
ChatId = NewType("ChatId", str)
RoundId = NewType("RoundId", str)
GuessId = NewType("GuessId", str)
JobId = NewType("JobId", str)
NoticeId = NewType("NoticeId", str)
EmojiSetId = NewType("EmojiSetId", str)

ROOM: Final = "ROM"
PLAYER: Final = "PLR"
CHAT: Final = "CHT"
ROUND: Final = "GAM"
GUESS: Final = "GES"
JOB: Final = "JOB"
NOTICE: Final = "NOT"
EMOJI_SET: Final = "EMS"

EPOCH_MS: Final = 1_704_067_200_000  # 2024-01-01T00:00:00Z
NODES: Final = 1 << 10
MAX_SNOWFLAKE: Final = (1 << 63) - 1

_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_VALUE: Final = {digit: value for value, digit in enumerate(_ALPHABET)}
_DIGITS: Final = 11
_SEQ_BITS: Final = 12
_NODE_BITS: Final = 10
_SHAPE: Final = re.compile(r"[A-Z]{3}[0-9A-Za-z]{11}", re.ASCII)
_KIND: Final = re.compile(r"[A-Z]{3}", re.ASCII)


class BadId(ValueError):  # noqa: N818 - the design's word
    """The value is not a branded id of the kind asked for."""

    def __init__(self, value: object, argument: str = "id", kind: str | None = None) -> None:
        self.value = value
        self.argument = argument
        self.kind = kind
        wanted = f"a {kind} id" if kind else "a branded id"
        shown = repr(value)
        if len(shown) > 40:
            shown = shown[:37] + "..."
        super().__init__(
            f"{argument} must be {wanted} (three capitals, then 11 base62 digits up to AzL8n0Y58m7), got {shown}"
        )


class NodeLost(RuntimeError):  # noqa: N818 - reads as the event it is
    """This process's lease on its node number has lapsed: another may hold it, so nothing may be minted."""


def encode(number: int) -> str:
    """Write ``number`` (0 to 2^63-1) as 11 base62 digits.

    Raises:
        ValueError: the number is out of range.
    """
    if not 0 <= number <= MAX_SNOWFLAKE:
        raise ValueError(f"a snowflake is 0..2^63-1, got {number}")
    digits = []
    for _ in range(_DIGITS):
        number, digit = divmod(number, 62)
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))


def decode(digits: str) -> int:
    """Read 11 base62 digits back into a number.

    Raises:
        BadId: wrong length, a foreign byte, or beyond 2^63-1.
    """
    if len(digits) != _DIGITS:
        raise BadId(digits)
    number = 0
    for digit in digits:
        value = _VALUE.get(digit)
        if value is None:
            raise BadId(digits)
        number = number * 62 + value
    if number > MAX_SNOWFLAKE:
        raise BadId(digits)
    return number


def check(value: object, *, kind: str | None = None, argument: str = "id") -> str:
    """Return ``value`` if it is a branded id (of ``kind``, when one is named).

    Raises:
        BadId: it is not; the message names ``argument``.
    """
    if not isinstance(value, str) or _SHAPE.fullmatch(value) is None:
        raise BadId(value, argument, kind)
    if value[3:] > "AzL8n0Y58m7" or (kind is not None and value[:3] != kind):
        raise BadId(value, argument, kind)
    return value


def brand(kind: str, number: int) -> str:
    """Make the id of ``kind`` whose snowflake is ``number``.

    Raises:
        BadId: ``kind`` is not three capital letters.
    """
    if _KIND.fullmatch(kind) is None:
        raise BadId(kind, "kind")
    return kind + encode(number)


def rebrand(value: str, kind: str) -> str:
    """Give the same snowflake another kind: a guess and its answer carry the digits of their job.

    Raises:
        BadId: ``value`` is no id.
    """
    return kind + check(value)[3:]


def minted_ms(value: str) -> int:
    """Wall clock (ms since 1970) at which ``value`` was minted."""
    return (decode(check(value)[3:]) >> (_SEQ_BITS + _NODE_BITS)) + EPOCH_MS


def first_id(kind: str, ms: int) -> str:
    """The smallest id of ``kind`` that could be minted at ``ms`` (wall clock) or later."""
    return brand(kind, max(0, ms - EPOCH_MS) << (_SEQ_BITS + _NODE_BITS))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class Minter:
    """Mints ids of any kind, ascending and never twice, for one node number.

    More than 4096 in a millisecond run on into the next one; a clock that steps back keeps
    counting from the last value. Safe from several threads.

    Args:
        node: 0..1023; no two live processes may share one.
        now_ms: the wall clock.
        floor_ms: nothing is minted at or before this time (a former holder of the node may have).
        held: says whether the node number is still this process's; asked at every mint.
    """

    def __init__(
        self,
        node: int,
        *,
        now_ms: Callable[[], int] = _now_ms,
        floor_ms: int = 0,
        held: Callable[[], bool] = lambda: True,
    ) -> None:
        if not 0 <= node < NODES:
            raise ValueError(f"node must be 0..{NODES - 1}, got {node}")
        self.node = node
        self._now_ms = now_ms
        self._held = held
        self._lock = threading.Lock()
        self._last = (max(floor_ms - EPOCH_MS, -1) + 1 << _SEQ_BITS) - 1

    def mint(self, kind: str) -> str:
        """Mint one id.

        Raises:
            NodeLost: the node number is no longer held.
        """
        if not self._held():
            raise NodeLost(f"node {self.node} is no longer leased to this process; stop minting and lease again")
        with self._lock:
            tick = max(self._now_ms() - EPOCH_MS, 0) << _SEQ_BITS
            self._last = max(self._last + 1, tick)
            ts, seq = divmod(self._last, 1 << _SEQ_BITS)
        return brand(kind, ts << (_SEQ_BITS + _NODE_BITS) | self.node << _SEQ_BITS | seq)

    @property
    def last_ms(self) -> int:
        """The latest millisecond this minter has used; the next holder of the node starts after it."""
        with self._lock:
            return (self._last >> _SEQ_BITS) + EPOCH_MS
