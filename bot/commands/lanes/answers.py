"""How an operator's command answers: in words, or in one JSON document; and how it asks before it deletes."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from bot.errors import NotConfirmed
from bot.names import clean


def answer(document: Mapping[str, Any], *lines: str, as_json: bool) -> None:
    """Print ``document`` as one JSON document, or ``lines``."""
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2) if as_json else "\n".join(lines))


def sure(question: str, *, yes: bool) -> None:
    """Return where an operator is sure.

    Raises:
        NotConfirmed: nobody is there to be asked, or they said no.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise NotConfirmed(f"{question} Nobody is there to be asked: add --yes; nothing was changed")
    if not typer.confirm(question, err=True):
        raise NotConfirmed("nothing was changed")


def named(group: str, titles: Mapping[str, str]) -> str:
    """A group as people know it: the chat's title, where there is one, and the id."""
    title = clean(titles.get(group, ""))
    return f"{title} ({group})" if title else group


def counted(number: int, noun: str) -> str:
    """``number`` and a noun that takes an s."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def levers_said(levers: Mapping[str, int | None]) -> str:
    """Levers in one line."""
    return ", ".join(f"{name.replace('_', ' ')} {'none' if value is None else value}" for name, value in levers.items())


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines whose columns stand below each other."""
    if not rows:
        return []
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
