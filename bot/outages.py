"""Which errors are of the moment: a server that is away, full, busy or not set up.

No update is at fault for them, and the same update works once the server does.
"""

from __future__ import annotations

from typing import Final

from redis import exceptions as redis
from telegram.error import BadRequest, NetworkError, RetryAfter

from engine.ids import NodeLost
from engine.lanes import NotReplicated
from engine.store.errors import SchemaMismatch, StatementRefused, StoreUnavailable

_OF_THE_MOMENT: Final = (
    StoreUnavailable,
    SchemaMismatch,
    StatementRefused,  # no table, no right: it fails everybody, until an operator has helped
    NodeLost,
    NotReplicated,
    OSError,  # its children include the builtin ConnectionError and TimeoutError
    redis.ConnectionError,
    redis.TimeoutError,
    redis.ReadOnlyError,
    redis.OutOfMemoryError,
    redis.ClusterDownError,
    redis.TryAgainError,
    NetworkError,
    RetryAfter,
)
_REPLIES: Final = (
    "OOM",
    "MISCONF",
    "READONLY",
    "NOREPLICAS",
    "MASTERDOWN",
    "LOADING",
    "BUSY",
    "TRYAGAIN",
    "CLUSTERDOWN",
)
"""How Redis begins a refusal that has nothing to do with what was asked."""


def is_outage(error: BaseException | None) -> bool:
    """Whether ``error``, or what it came from, says that a server can't serve anybody right now."""
    seen = 0
    while error is not None and seen < 10:  # a chain of causes may have a ring
        if isinstance(error, _OF_THE_MOMENT) and not isinstance(error, BadRequest):
            return True
        if isinstance(error, redis.ResponseError) and str(error).startswith(_REPLIES):
            return True
        error, seen = error.__cause__, seen + 1
    return False
