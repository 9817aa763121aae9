"""The bounds of every argument, checked before anything is sent."""

from __future__ import annotations

from typing import Final

from engine.lanes.errors import BadArgument

MAX_PAYLOAD: Final = 64 * 1024
MAX_LEASE_MS: Final = 24 * 3_600_000
MAX_DELAY_MS: Final = 366 * 24 * 3_600_000
MAX_COUNT: Final = 10_000
MAX_LIMIT: Final = 1_000_000
MAX_LEVER: Final = 1_000_000_000
MAX_DEDUP: Final = 512
MAX_ERROR: Final = 1_000


def whole(argument: str, value: object, low: int, high: int, unit: str = "") -> int:
    """Return ``value`` if it is a whole number from ``low`` to ``high``.

    Raises:
        BadArgument: it is not; True and False are no numbers here.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise BadArgument(argument, value, f"a whole number from {low} to {high}{unit and ' ' + unit}")
    return int(value)


def ms(argument: str, value: object, low: int, high: int) -> int:
    """Return ``value`` if it is a whole number of milliseconds from ``low`` to ``high``.

    Raises:
        BadArgument: it is not.
    """
    return whole(argument, value, low, high, "ms")


def lever(argument: str, value: object) -> int:
    """Return a lever's number (1 or more), or 0 for None, which takes the lever back.

    Raises:
        BadArgument: it is neither.
    """
    return 0 if value is None else whole(argument, value, 1, MAX_LEVER)


def raw(argument: str, value: object, high: int) -> bytes:
    """Return ``value`` if it is at most ``high`` bytes.

    Raises:
        BadArgument: it is too long, or not bytes.
    """
    if not isinstance(value, bytes | bytearray | memoryview) or len(value) > high:
        shown = value if not isinstance(value, bytes | bytearray | memoryview) else f"{len(value)} bytes"
        raise BadArgument(argument, shown, f"at most {high} bytes")
    return bytes(value)


def dedup_key(value: object) -> bytes:
    """Return a dedup key as bytes; None is the empty one, which is never remembered.

    Raises:
        BadArgument: neither text nor bytes, empty, or over 512 bytes.
    """
    if value is None:
        return b""
    key = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    if not isinstance(key, bytes) or not 1 <= len(key) <= MAX_DEDUP:
        raise BadArgument("dedup", value, f"text or bytes, 1 to {MAX_DEDUP} bytes long")
    return key


def error_text(value: object) -> bytes:
    """Return what is remembered of a failure: at most a thousand bytes of text."""
    return str(value).encode("utf-8", "replace")[:MAX_ERROR]
