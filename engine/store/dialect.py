"""The two dialects' ``INSERT ... ON CONFLICT``, which SQLAlchemy keeps apart though they read the same."""

from __future__ import annotations

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite

POSTGRESQL = "postgresql"
SQLITE = "sqlite"

Insert = postgresql.Insert | sqlite.Insert


def insert(dialect: str, table: Table) -> Insert:
    """An insert into ``table`` that has ``on_conflict_do_nothing`` and ``on_conflict_do_update``."""
    return postgresql.insert(table) if dialect == POSTGRESQL else sqlite.insert(table)
