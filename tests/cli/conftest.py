"""The command line, called in this process.

* ``call``: calls it
* ``desk``: an operator's desk beside a product on SQLite; ``anywhere``: on each of the two databases
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from bot.cli import run
from tests.cli.lanes import Desk
from tests.cli.program import Done


def called(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *arguments: str | Path,
    stdin: bytes = b"",
    **environment: str,
) -> Done:
    """Call the command line in this process: enough where nothing is started."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
    code = run([str(argument) for argument in arguments])
    return Done(code, *capsys.readouterr())


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    return partial(called, capsys, monkeypatch)


@pytest.fixture
def anywhere(call: Callable[..., Done], redis_url: str, ready_database_url: str) -> Desk:
    return Desk(call, redis_url, ready_database_url)


@pytest.fixture
def desk(call: Callable[..., Done], redis_url: str, migrated_sqlite: Path, tmp_path: Path) -> Desk:
    copy = tmp_path / "ready.sqlite"
    shutil.copyfile(migrated_sqlite, copy)
    return Desk(call, redis_url, f"sqlite+aiosqlite:///{copy}")
