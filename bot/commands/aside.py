"""``codemojex aside``: updates of Telegram that were set aside, and why.

One is kept as it came, for thirty days. What it asked for was not done: once its fault is mended, post it again as
Telegram would, or tell the people.
"""

from __future__ import annotations

import unicodedata
from dataclasses import asdict
from datetime import UTC, datetime
from json import dumps
from typing import Annotated, Any, Final

import typer

from bot.commands.lanes import options
from bot.commands.lanes.answers import answer, columns, counted, sure
from bot.commands.lanes.session import in_house
from bot.commands.options import DataDir
from bot.errors import ProgramError, UsageProblem
from bot.names import clean
from bot.wiring import House
from engine.store.aside import AsideUpdate

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Its name on the list: its number at Telegram, and a few digits more.")
]

aside: Final = typer.Typer(
    name="aside",
    help="List updates that were set aside because they always fail; show one, or drop them.",
    invoke_without_command=True,
    rich_markup_mode=None,
)


@aside.callback()
def listed(
    context: typer.Context,
    *,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="At most so many updates.")] = 20,
    json: options.Json = False,
    data_dir: DataDir = None,
) -> None:
    """List updates that were set aside because they always fail, the newest first; show one, or drop them."""
    if context.invoked_subcommand is not None:
        return

    async def do(house: House) -> tuple[list[AsideUpdate], int]:
        async with house.units.read() as work:
            return await work.aside.newest(limit), await work.aside.count()

    updates, total = in_house(do, data_dir)
    rows = [("name", "kind", "error", "tries", "first", "last")]
    rows += [
        (each.name, clean(each.kind), clean(each.error), str(each.attempts), _when(each.first_ms), _when(each.last_ms))
        for each in updates
    ]
    lines = columns(rows) if updates else ["No update is set aside."]
    if total > len(updates):
        lines.append(f"{counted(total, 'update')} in all.")
    answer({"aside": total, "updates": [_document(each) for each in updates]}, *lines, as_json=json)


@aside.command()
def show(name: Name, *, data_dir: DataDir = None) -> None:
    """Print one as it came, but with control characters as JSON writes them."""

    async def do(house: House) -> AsideUpdate | None:
        async with house.units.read() as work:
            return await work.aside.get(name)

    found = in_house(do, data_dir)
    if found is None:
        raise _unknown(name)
    typer.echo("".join(map(_tame, found.body)))


@aside.command()
def drop(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Its name on the list.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Every one of them.")] = False,
    yes: options.Yes = False,
    json: options.Json = False,
    data_dir: DataDir = None,
) -> None:
    """Delete one, or all of them. What they asked for is lost then."""
    if (name is None) is not everything:
        raise UsageProblem("name one update, or say --all; `codemojex aside` lists them")
    sure("Delete every update that is set aside?" if name is None else f"Delete update {clean(name)}?", yes=yes)

    async def do(house: House) -> int:
        async with house.units.begin() as work:
            dropped = await work.aside.drop(name)
            await work.commit()
        return dropped

    dropped = in_house(do, data_dir)
    if name is not None and not dropped:
        raise _unknown(name)
    answer({"dropped": dropped}, f"{counted(dropped, 'update')} deleted.", as_json=json)


def _tame(character: str) -> str:
    """A character that a terminal may be shown: no order to it, and nothing that hides or turns what stands around."""
    if character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}:
        return character
    return dumps(character)[1:-1]


def _unknown(name: str) -> ProgramError:
    return ProgramError(f"nothing was set aside as {clean(name)[:80]}; `codemojex aside` lists what was")


def _document(update: AsideUpdate) -> dict[str, Any]:
    return {name: value for name, value in asdict(update).items() if name != "body"}


def _when(at_ms: int) -> str:
    return f"{datetime.fromtimestamp(at_ms / 1_000, UTC):%Y-%m-%d %H:%M:%S} UTC"
