"""``codemojex lanes rooms``: which id a chat's room has, also where nothing happens in it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Final

import typer

from bot.commands.lanes import options
from bot.commands.lanes.answers import answer, columns
from bot.commands.lanes.session import in_house
from bot.commands.options import DataDir
from bot.names import clean
from engine.game.plans import TitledRoom

MOST: Final = 50

Part = Annotated[str, typer.Argument(metavar="TEXT", help="A part of the title, in any case.", show_default=False)]


def rooms(part: Part = "", *, json: options.Json = False, data_dir: DataDir = None) -> None:
    """List rooms whose chat has TEXT in its title, the newest 50 of them."""
    found = in_house(lambda house: house.game.operators.find(part, MOST), data_dir)
    rows = [("room", "plan", "", "chat"), *(_row(room) for room in found)]
    lines = columns(rows) if found else ["No chat of that title has a room; without TEXT the newest rooms are listed."]
    if len(found) == MOST:
        lines.append(f"There may be more than these {MOST}: say more of the title.")
    answer({"rooms": [asdict(room) for room in found]}, *lines, as_json=json)


def _row(room: TitledRoom) -> tuple[str, ...]:
    topic = f" (topic {room.thread})" if room.thread else ""
    return room.id, room.plan or "-", "paused" if room.paused else "", f"{clean(room.title)}{topic}"
