"""Options and arguments that the operators' commands share, and how their words are read."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Final

import typer

from engine.game.model import MAX_LEVER
from engine.game.operators import MAX_HOLD_MS
from engine.ids import CHAT, ROOM, check
from engine.workers.adapters import GUESSES, NOTICES, SETTLEMENTS

NONE: Final = 0
"""What ``none`` is read as: it takes a lever back."""
_UNITS_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


class QueueName(StrEnum):
    """The product's queues."""

    GUESSES = GUESSES
    SETTLEMENTS = SETTLEMENTS
    NOTICES = NOTICES


def group_id(queue: QueueName, group: str) -> str:
    """``group`` where it is an id of a group of ``queue``: a room's, or for notices a chat's.

    Raises:
        BadId: it is none.
    """
    return check(group, kind=CHAT if queue is QueueName.NOTICES else ROOM, argument="GROUP")


def _number(word: str) -> int:
    if word.lower() in {"none", "-"}:
        return NONE
    if re.fullmatch(r"0*[1-9][0-9]{0,9}", word, re.ASCII) is None or int(word) > MAX_LEVER:
        raise typer.BadParameter(f"{word[:20]!a} is neither none nor a whole number from 1 to {MAX_LEVER}")
    return int(word)


def _duration(word: str) -> int:
    if word.lower() in {"none", "-"}:
        return NONE
    found = re.fullmatch(r"0*([1-9][0-9]{0,11})(ms|s|m|h|d)", word, re.ASCII)
    if found is None or (ms := int(found[1]) * _UNITS_MS[found[2]]) > MAX_HOLD_MS:
        raise typer.BadParameter(f"{word[:20]!a} is neither none nor a time up to 366d, such as 500ms, 30s, 5m, 1h")
    return ms


def taken_back(number: int | None) -> int | None:
    """What a lever is set to: None where it is taken back, or nothing was said."""
    return None if number == NONE else number


Queue = Annotated[QueueName, typer.Option("--queue", help="Which queue: guesses, settlements or notices.")]
Json = Annotated[bool, typer.Option("--json", help="Answer in one JSON document.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]
Group = Annotated[str, typer.Argument(metavar="GROUP", help="A room (ROM...); on cm.notify a chat (CHT...).")]
SomeGroup = Annotated[
    str | None, typer.Argument(metavar="GROUP", help="A room (ROM...); on cm.notify a chat (CHT...).")
]
Room = Annotated[str, typer.Argument(metavar="ROOM", help="A room (ROM...).")]
Number = Annotated[int, typer.Argument(metavar="NUMBER|none", parser=_number)]
Duration = Annotated[
    int, typer.Argument(metavar="TIME|none", parser=_duration, help="500ms, 30s, 5m, 1h, 2d; none ends it.")
]
Count = Annotated[int, typer.Option("--limit", min=1, max=1_000_000, help="At most so many jobs.")]


def lever_option(flag: str, help_: str) -> typer.models.OptionInfo:
    """An option that sets a lever to a number or to none."""
    option = typer.Option(flag, metavar="NUMBER|none", parser=_number, help=help_, show_default=False)
    assert isinstance(option, typer.models.OptionInfo)  # noqa: S101 - typer types it as anything
    return option
