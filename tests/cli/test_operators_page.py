"""Whatever the operators' page tells to type can be typed, and every command of theirs is on it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Final

import pytest

from bot.cli import app
from engine.lanes import State, Verdict
from tests.cli.lanes import Desk
from tests.test_docs import commands_of
from tests.workers.making import House

PAGE: Final = (Path(__file__).parents[2] / "docs" / "operators.md").read_text(encoding="utf-8")
BLOCKS: Final = "\n".join(re.findall(r"^```\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
EXAMPLES: Final = re.findall(r"^codemojex lanes (.+?)(?:  +.*)?$", BLOCKS, re.MULTILINE)
GOLD: Final = ("plan", "set", "gold", "--weight", "2")


async def in_trouble(product: House) -> dict[str, str]:
    """What the page's ids stand for: a room with guesses waiting, in flight and dead, a player of it, its chat."""
    room, _ = await product.current()
    guesses = product.queues.guesses
    dead, in_flight = await guesses.claim(2, 3_600_000)
    while await guesses.retry(dead, "broken", 0) is Verdict.ok:
        (dead,) = await guesses.claim(1, 3_600_000)
    assert [record.id for record in await guesses.browse(room.id, 9, State.dead)] == [dead.id]
    waiting = (await guesses.browse(room.id, 9))[0]
    return {
        "ROM0KHTOWnGLuC": room.id,
        "CHT0KHTOWnGLuC": room.chat,
        "JOB0KHTOWnGLuC": waiting.id,
        "JOB0KHTOWnGLuD": dead.id,
        "PLR0KHTOWnGLuC": in_flight.lane,
    }


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_the_page_tells_to_type_works(desk: Desk, example: str) -> None:
    desk.flooded(6)
    desk.told(*GOLD)
    for shown, real in desk.do(in_trouble).items():
        example = example.replace(shown, real)
    assert not re.search("0KHTOWnGLu", example), "the page names an id that stands for nothing"
    assert desk.said(*shlex.split(example))


def test_every_command_of_operators_is_on_the_page() -> None:
    known = {command.removeprefix("lanes ") for command in commands_of(app) if command.startswith("lanes ")} - {"plan"}
    told = {command for command in known for example in EXAMPLES if f"{example} ".startswith(f"{command} ")}
    assert known - told == set()
    assert len(EXAMPLES) > len(known)
