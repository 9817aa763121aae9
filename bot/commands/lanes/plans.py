"""Plans: ``plans`` lists them; ``plan`` sets, gives, takes, shows and drops them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Final

import typer

from bot.commands.lanes import options
from bot.commands.lanes.answers import answer, columns, counted, levers_said, named, sure
from bot.commands.lanes.levers import levers_of
from bot.commands.lanes.options import taken_back
from bot.commands.lanes.session import in_house
from bot.commands.options import DataDir
from bot.errors import UsageProblem
from bot.wiring import House
from engine.game.model import Plan, Room
from engine.ids import ROOM, RoomId, check

Name = Annotated[str, typer.Argument(metavar="NAME", help="The plan's name: a-z, 0-9 and dashes.")]
Rooms = Annotated[list[str], typer.Argument(metavar="ROOM...", help="Rooms (ROM...).")]

plan: Final = typer.Typer(
    name="plan", help="Set, give, take, show and drop a plan.", no_args_is_help=True, rich_markup_mode=None
)


def plans(*, json: options.Json = False, data_dir: DataDir = None) -> None:
    """List the plans, with how many rooms are on each."""
    found = in_house(lambda house: house.game.operators.plans(), data_dir)
    rows: list[tuple[str, ...]] = [("plan", "weight", "ceiling", "cap", "lane cap", "rooms")]
    rows += [(it.plan.name, *map(_cell, asdict(it.plan.levers).values()), f"{it.rooms:,}") for it in found]
    document = {"plans": [{**_document(it.plan), "rooms": it.rooms} for it in found]}
    nothing = "There is no plan yet; make one: codemojex lanes plan set gold --weight 3 --ceiling 20"
    answer(document, *(columns(rows) if found else [nothing]), as_json=json)


@plan.command("set")
def set_(
    name: Name,
    *,
    weight: Annotated[int | None, options.lever_option("--weight", "Guesses a visit is worth.")] = None,
    ceiling: Annotated[int | None, options.lever_option("--ceiling", "Most guesses of a room in flight.")] = None,
    cap: Annotated[int | None, options.lever_option("--cap", "Most guesses that a room has waiting.")] = None,
    lane_cap: Annotated[int | None, options.lever_option("--lane-cap", "The same for each player in it.")] = None,
    json: options.Json = False,
    data_dir: DataDir = None,
) -> None:
    """Make a plan, or change it: in force at once in every room on it. What is left out stays as it is."""
    given = {"weight": weight, "ceiling": ceiling, "cap": cap, "lane_cap": lane_cap}
    changes = {lever: taken_back(number) for lever, number in given.items() if number is not None}
    made, rooms = in_house(lambda house: house.game.operators.change_plan(name, changes), data_dir)
    said = f"Plan {made.name}: {levers_said(asdict(made.levers))}; in force in {counted(len(rooms), 'room')}."
    answer({**_document(made), "rooms": rooms}, said, as_json=json)


@plan.command()
def show(name: Name, *, json: options.Json = False, data_dir: DataDir = None) -> None:
    """Show a plan and the rooms on it."""

    async def do(house: House) -> tuple[Plan, list[RoomId], dict[str, str]]:
        found, rooms = await house.game.operators.rooms_on(name)
        return found, rooms, await house.game.operators.titles(list(rooms))

    found, rooms, titles = in_house(do, data_dir)
    lines = [f"Plan {found.name}: {levers_said(asdict(found.levers))}; {counted(len(rooms), 'room')}."]
    lines += [f"  {named(room, titles)}" for room in rooms]
    on = [{"room": room, "title": titles.get(room)} for room in rooms]
    answer({**_document(found), "rooms": on}, *lines, as_json=json)


@plan.command()
def give(name: Name, rooms: Rooms, *, json: options.Json = False, data_dir: DataDir = None) -> None:
    """Put rooms on a plan, in place of the one they were on."""
    _give(name, rooms, json=json, data_dir=data_dir)


@plan.command()
def take(rooms: Rooms, *, json: options.Json = False, data_dir: DataDir = None) -> None:
    """Take rooms off their plans."""
    _give(None, rooms, json=json, data_dir=data_dir)


@plan.command()
def drop(name: Name, *, yes: options.Yes = False, json: options.Json = False, data_dir: DataDir = None) -> None:
    """Delete a plan; the rooms on it are on none from then on."""
    _, rooms = in_house(lambda house: house.game.operators.rooms_on(name), data_dir)
    sure(f"Delete the plan {name}, which {counted(len(rooms), 'room')} would lose?", yes=yes)
    lost = in_house(lambda house: house.game.operators.drop_plan(name), data_dir)
    said = f"Plan {name} is gone; {counted(len(lost), 'room')} lost it."
    answer({"plan": name, "dropped": True, "rooms": lost}, said, as_json=json)


def _give(name: str | None, rooms: list[str], *, json: bool, data_dir: Any) -> None:
    if not rooms:
        raise UsageProblem("name at least one ROOM")
    for room in rooms:
        check(room, kind=ROOM, argument="ROOM")

    async def do(house: House) -> tuple[list[Room], int, dict[str, str]]:
        operators = house.game.operators
        for room in rooms:  # each must be known before the first is changed
            await operators.room(RoomId(room))
        given = [await operators.give(RoomId(room), name) for room in rooms]
        return given, house.settings.room_ceiling, await operators.titles(list(rooms))

    given, ceiling, titles = in_house(do, data_dir)
    lines = [
        f"{named(room.id, titles)}: {'on no plan' if name is None else f'on plan {name}'}. "
        f"In force: {levers_said(asdict(room.in_force(ceiling)))}."
        for room in given
    ]
    on = [{"room": room.id, "title": titles.get(room.id), **levers_of(room, ceiling)} for room in given]
    answer({"plan": name, "rooms": on}, *lines, as_json=json)


def _document(one: Plan) -> dict[str, Any]:
    return {"plan": one.name, **asdict(one.levers)}


def _cell(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"
