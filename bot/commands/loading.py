"""Settings for a command that a person waits for: what is written like one and is none is told at once."""

from __future__ import annotations

from pathlib import Path

import typer

from bot.settings import Settings, load_settings, strangers


def loaded(data_dir: Path | None) -> Settings:
    """The settings; a variable that only looks like one is told on standard error.

    Raises:
        BadSettings: a value can't be used.
    """
    settings = load_settings(data_dir=data_dir)
    for name, nearest in strangers():
        remedy = f"did you mean {nearest}?" if nearest is not None else "the README lists all settings"
        typer.echo(f"codemojex: {name} is no setting and changes nothing; {remedy}", err=True)
    return settings
