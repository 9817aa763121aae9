"""What SQLite's driver says, as the store says it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from engine.store.errors import DatabaseBusy, DatabaseUnreachable, RowRefused, StatementRefused
from engine.store.faults import told_by_the_store


def test_a_lock_that_another_process_holds_is_busy(tmp_path: Path) -> None:
    one, two = (sqlite3.connect(tmp_path / "cm.db", isolation_level=None, timeout=0) for _ in range(2))
    one.execute("BEGIN IMMEDIATE")
    with pytest.raises(DatabaseBusy, match="waited in vain for the database at here"), told_by_the_store("here"):
        two.execute("BEGIN IMMEDIATE")
    one.close()
    two.close()


def test_a_full_disk_is_unreachable(tmp_path: Path) -> None:
    """As SQLite's own page limit acts it out."""
    database = sqlite3.connect(tmp_path / "cm.db")
    database.execute("PRAGMA max_page_count = 2")
    database.execute("CREATE TABLE t (x)")
    with pytest.raises(DatabaseUnreachable, match=r"full.*has room"), told_by_the_store("here"):
        database.executemany("INSERT INTO t VALUES (?)", [("x" * 4_000,)] * 9)
    database.close()


def test_a_broken_constraint_is_a_refused_row(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "cm.db")
    database.execute("CREATE TABLE t (x CONSTRAINT small CHECK (x < 5))")
    with pytest.raises(RowRefused, match="constraint small"), told_by_the_store("here"):
        database.execute("INSERT INTO t VALUES (7)")
    database.close()


def test_an_unknown_table_is_a_refused_statement(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "cm.db")
    with pytest.raises(StatementRefused, match="no such table"), told_by_the_store("here"):
        database.execute("SELECT * FROM nowhere")
    database.close()


def test_what_is_no_error_of_a_driver_passes_through() -> None:
    with pytest.raises(LookupError), told_by_the_store("here"):
        raise LookupError


def test_a_timeout_without_words_still_says_something() -> None:
    with pytest.raises(DatabaseUnreachable, match="no answer in time"), told_by_the_store("here"):
        raise TimeoutError
