"""Telling a server that is away from an update that is at fault."""

from __future__ import annotations

import datetime as dt

import pytest
from redis import exceptions as redis
from telegram.error import BadRequest, NetworkError, RetryAfter, TimedOut

from bot.outages import is_outage
from engine.ids import BadId, NodeLost
from engine.store.errors import DatabaseBusy, NotMigrated, RowRefused, StatementRefused

# The library reads its own deprecated attribute as it makes a RetryAfter.
pytestmark = pytest.mark.filterwarnings("ignore:.*retry_after:telegram.warnings.PTBDeprecationWarning")


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [
        redis.ConnectionError("refused"),
        redis.TimeoutError("slow"),
        redis.BusyLoadingError("loading"),
        redis.ReadOnlyError("replica"),
        redis.OutOfMemoryError("full"),
        redis.ResponseError("MISCONF Redis is configured to save RDB snapshots"),
        redis.ResponseError("OOM command not allowed"),
        DatabaseBusy("here", "locked", "wait"),
        NotMigrated(None, "0001", "here"),
        StatementRefused("no such table", "here"),
        NodeLost("lapsed"),
        NetworkError("Bad Gateway"),
        TimedOut(),
        caused(LookupError("wrapped"), TimedOut()),
        ConnectionRefusedError(),
        TimeoutError(),
        caused(RuntimeError("wrapped"), redis.ConnectionError("refused")),
    ],
)
def test_a_server_that_is_away_is_an_outage(error: Exception) -> None:
    assert is_outage(error)


def test_a_flood_limit_is_an_outage() -> None:
    assert is_outage(RetryAfter(dt.timedelta(seconds=5)))


@pytest.mark.parametrize(
    "error",
    [
        None,
        LookupError("a bug"),
        BadId("x"),
        RowRefused("guesses_source", "here"),
        BadRequest("user not found"),
        redis.ResponseError("ERR user_script:3: attempt to index a nil value"),
        redis.DataError("invalid input"),
    ],
)
def test_a_fault_of_the_update_is_none(error: Exception | None) -> None:
    assert not is_outage(error)


def test_a_ring_of_causes_ends() -> None:
    first, second = LookupError("a"), LookupError("b")
    first.__cause__, second.__cause__ = second, first
    assert not is_outage(first)
