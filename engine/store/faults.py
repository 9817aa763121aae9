"""Driver errors in, store errors out: the one place that knows what the drivers raise."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import asyncpg
from sqlalchemy import exc

from engine.store.errors import (
    DatabaseBusy,
    DatabaseUnreachable,
    RowRefused,
    StatementRefused,
    StoreError,
)

_AGAIN: Final = "it passes by itself; try again"
_CHECK_SERVER: Final = "check that it runs and that DATABASE_URL is right"
_CLOSED: Final = "the handler is closed"
"""How uvloop says it, in a RuntimeError, of a link that broke under a driver that had not noticed."""
_CHECK_FILE: Final = "check that its directory exists, can be written and has room"

# SQLSTATEs, by their longest prefix that says it: lost transactions, locks and timeouts; then the server itself.
_BUSY: Final = ("40", "55P03", "57014", "25P03")
_UNREACHABLE: Final = ("08", "53", "57P", "58", "28", "3D", "25006")
_VALUE: Final = ("22", "23")


@contextmanager
def told_by_the_store(where: str) -> Iterator[None]:
    """Turn whatever a driver raises inside into a ``StoreError`` about the database at ``where``.

    The driver's error is left out of the chain on purpose: it quotes rows, and rows hold secrets.
    """
    try:
        yield
    except exc.TimeoutError:
        raise DatabaseBusy(where, "no connection became free in time", _AGAIN) from None
    except exc.StatementError as error:
        raise _statement(error, where) from None
    except sqlite3.Error as error:
        raise _sqlite(error, where) from None
    except (OverflowError, UnicodeError):
        raise RowRefused("", where) from None
    except asyncpg.PostgresError as error:
        raise _postgresql(error.sqlstate or "", _first_line(error), where, "") from None
    except (OSError, asyncpg.InterfaceError, asyncpg.InternalClientError, exc.SQLAlchemyError) as error:
        raise DatabaseUnreachable(where, _first_line(error), _CHECK_SERVER) from None
    except RuntimeError as error:
        if _CLOSED not in str(error):
            raise
        raise DatabaseUnreachable(where, "the connection is closed", _CHECK_SERVER) from None


def _statement(error: exc.StatementError, where: str) -> StoreError:
    cause = error.orig
    if isinstance(cause, sqlite3.Error):
        return _sqlite(cause, where)
    if isinstance(error, exc.DBAPIError) and cause is not None:
        driver = cause.__cause__
        code = getattr(cause, "sqlstate", None)
        if code:
            return _postgresql(
                code, _first_line(driver or cause), where, getattr(driver, "constraint_name", None) or ""
            )
        # asyncpg calls both a value it cannot encode and an option it cannot connect with a wrong value.
        if isinstance(driver, ValueError) and error.statement is not None:
            return RowRefused("", where)
        return DatabaseUnreachable(where, _first_line(driver or cause), _CHECK_SERVER)
    # The value did not even reach the driver.
    return RowRefused("", where)


def _postgresql(code: str, says: str, where: str, constraint: str) -> StoreError:
    if code.startswith(_BUSY):
        return DatabaseBusy(where, says, _AGAIN)
    if code.startswith(_UNREACHABLE):
        return DatabaseUnreachable(where, says, _CHECK_SERVER)
    if code.startswith(_VALUE):
        return RowRefused(constraint, where)
    return StatementRefused(code, where)


def _sqlite(error: sqlite3.Error, where: str) -> StoreError:
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return DatabaseBusy(where, "another process writes", _AGAIN)
    if name.startswith("SQLITE_CONSTRAINT"):
        return RowRefused(str(error).rpartition(": ")[2], where)
    if name in {"SQLITE_MISMATCH", "SQLITE_TOOBIG"} or isinstance(error, sqlite3.InterfaceError):
        return RowRefused("", where)
    if name == "SQLITE_ERROR" or isinstance(error, sqlite3.ProgrammingError):
        return StatementRefused(str(error), where)
    return DatabaseUnreachable(where, _first_line(error), _CHECK_FILE)


def _first_line(error: BaseException) -> str:
    """What the driver says, less its DETAIL (which quotes rows)."""
    if isinstance(error, TimeoutError) and not str(error):
        return "no answer in time"
    return (str(error).splitlines() or [""])[0].strip() or type(error).__name__
