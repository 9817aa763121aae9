"""Meters of their own for each test, and a database with the newest schema."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bot.metrics import Meters


@pytest.fixture
def meters() -> Meters:
    return Meters()


@pytest.fixture
def ready_sqlite_url(migrated_sqlite: Path, tmp_path: Path) -> str:
    copy = tmp_path / "ready.sqlite"
    shutil.copyfile(migrated_sqlite, copy)
    return f"sqlite+aiosqlite:///{copy}"
