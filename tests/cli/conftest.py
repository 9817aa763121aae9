"""The command line, called in this process."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from bot.cli import run
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
