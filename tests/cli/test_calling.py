"""How the command line is called, and what it says of itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.cli.program import Done


def test_the_version_is_told_as_an_option_and_as_a_command(call: Callable[..., Done]) -> None:
    assert call("--version") == call("version") == Done(0, f"codemojex {version('codemojex')}\n", "")


@pytest.mark.parametrize(
    "command", [("lanes", "pause"), ("lanes", "resume"), ("lanes", "rooms"), ("lanes", "dead"), ("aside", "drop")]
)
def test_what_may_be_left_out_is_bracketed_once(call: Callable[..., Done], command: tuple[str, ...]) -> None:
    usage = call(*command, "--help").out.splitlines()[0]
    assert re.search(r" \[OPTIONS\] \[[A-Z]+\]$", usage), usage


def test_a_script_without_a_message_is_named(tmp_path: Path, call: Callable[..., Done]) -> None:
    assert call("play", "--script", "-").line.startswith("codemojex: standard input holds no message;")
    empty = tmp_path / "empty.txt"
    empty.write_text("# nothing\n")
    assert call("play", "--script", empty).line.startswith(f"codemojex: the script {empty} holds no message;")
