"""A migrated database for each test of the store, and units of work on it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from engine.store.database import Database, open_database
from engine.store.work import SqlUnits
from tests.store.making import mint


@pytest.fixture
async def database(ready_database_url: str) -> AsyncIterator[Database]:
    async with await open_database(ready_database_url) as opened:
        yield opened


@pytest.fixture
async def neighbour(database: Database, ready_database_url: str) -> AsyncIterator[SqlUnits]:
    """Units of work on connections of its own, as another process has them."""
    async with await open_database(ready_database_url) as opened:
        assert opened.where == database.where
        yield SqlUnits(opened, mint)


@pytest.fixture
def units(database: Database) -> SqlUnits:
    return SqlUnits(database, mint)
