"""``audit``: whether every counter and ring agrees with the jobs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from bot.commands.lanes import options
from bot.commands.lanes.answers import answer, columns, counted, sure
from bot.commands.lanes.options import QueueName
from bot.commands.lanes.session import in_house, lanes_of
from bot.commands.options import DataDir
from bot.errors import Drifted
from bot.names import clean
from bot.wiring import House
from engine.lanes import Audit


def audit(
    *,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what does not agree.")] = False,
    queue: options.Queue = QueueName.GUESSES,
    yes: options.Yes = False,
    json: options.Json = False,
    data_dir: DataDir = None,
) -> None:
    """Recount a queue from its leases and lanes, while it works on; exit code 1 where something does not agree.

    A repair deletes keys of a foreign type and entries whose job is gone, and leaves each job in one place; then the
    lanes are told every room's levers.
    """
    if repair:
        sure(f"Mend {queue}, deleting entries whose job is gone?", yes=yes)

    async def do(house: House) -> Audit:
        found = await lanes_of(house, queue).audit(repair=repair)
        if repair and not found.clean and queue is QueueName.GUESSES:
            await house.game.operators.tell_again()
        return found

    found = in_house(do, data_dir)
    looked = f"{counted(found.groups, 'group')}, {counted(found.lanes, 'lane')}, {counted(found.jobs, 'job')}"
    rows = [("what", "where", "found", "expected")]
    rows += [(drift.what, clean(drift.where), clean(drift.found), clean(drift.expected)) for drift in found.drift]
    lines = columns(rows) if found.drift else []
    verdict = "all agrees" if found.clean else f"{counted(len(found.drift), 'thing')} did not agree"
    mended = ", and all was mended" if found.repaired and found.drift else ""
    document = {"queue": queue, "clean": found.clean, **asdict(found)}
    answer(document, *lines, f"{queue}: looked at {looked}; {verdict}{mended}.", as_json=json)
    if found.drift and not found.repaired:
        if json:
            raise typer.Exit(1)
        raise Drifted("the queue has drifted; `codemojex lanes audit --repair` mends it")
