"""Levers: ``pause``, ``resume``, ``limit``, ``weight``, ``cap``, ``hold``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final

import typer

from bot.commands.lanes import options
from bot.commands.lanes.answers import answer, levers_said, named
from bot.commands.lanes.options import QueueName, group_id, taken_back
from bot.commands.lanes.session import in_house, lanes_of
from bot.commands.options import DataDir
from bot.errors import UsageProblem
from bot.wiring import House
from engine.game.model import Room
from engine.game.operators import Operators
from engine.ids import RoomId
from engine.lanes import Lanes

_ON_LANES_ALONE: Final = "in Redis alone: only levers of cm are kept where it loses its data"


@dataclass(frozen=True, slots=True)
class _Pull:
    """One lever pulled: how the rooms' service does it, how another queue does, and how it is said."""

    lever: str
    said: str
    of_room: Callable[[Operators, RoomId], Awaitable[Room]]
    of_group: Callable[[Lanes, str], Awaitable[None]]
    document: Mapping[str, Any]


def pause(
    group: options.SomeGroup = None,
    *,
    all_groups: Annotated[bool, typer.Option("--all", help="Pause all claims of the queue.")] = False,
    queue: options.Queue = QueueName.GUESSES,
    json: options.Json = False,
    data_dir: DataDir = None,
) -> None:
    """Keep a group's jobs, or with --all a queue's, from being claimed. What is in flight goes on.

    A paused room refuses guesses, and its round's clock stands still, as after /pause in its chat. With --all guesses
    still come in, and clocks go on.
    """
    if _all(group, all_groups=all_groups):
        _pull_all(queue, paused=True, json=json, data_dir=data_dir)
        return
    pulled = _Pull("pause", "paused", Operators.pause, lambda lanes, it: lanes.pause(it), {"paused": True})
    _pull(pulled, group or "", queue, json=json, data_dir=data_dir)


def resume(
    group: options.SomeGroup = None,
    *,
    all_groups: Annotated[bool, typer.Option("--all", help="End a pause of the whole queue.")] = False,
    queue: options.Queue = QueueName.GUESSES,
    json: options.Json = False,
    data_dir: DataDir = None,
) -> None:
    """End a pause. With --all that of the queue; groups that are paused by themselves stay so."""
    if _all(group, all_groups=all_groups):
        _pull_all(queue, paused=False, json=json, data_dir=data_dir)
        return
    pulled = _Pull("resume", "resumed", Operators.resume, lambda lanes, it: lanes.resume(it), {"paused": False})
    _pull(pulled, group or "", queue, json=json, data_dir=data_dir)


def limit(
    group: options.Group,
    ceiling: options.Number,
    *,
    queue: options.Queue = QueueName.GUESSES,
    json: options.Json = False,
    data_dir: DataDir = None,
) -> None:
    """Let at most NUMBER jobs of a group be in flight at once. A chat's own /limit may still be lower."""
    n = taken_back(ceiling)
    _set(group, "ceiling", {"ceiling": n}, lambda lanes, it: lanes.limit(it, n), queue, json=json, data_dir=data_dir)


def weight(
    group: options.Group,
    jobs: options.Number,
    *,
    queue: options.Queue = QueueName.GUESSES,
    json: options.Json = False,
    data_dir: DataDir = None,
) -> None:
    """Make a visit of the rota worth NUMBER jobs to a group: its share, among groups that no ceiling binds."""
    w = taken_back(jobs)
    _set(group, "weight", {"weight": w}, lambda lanes, it: lanes.weight(it, w), queue, json=json, data_dir=data_dir)


def cap(
    group: options.Group,
    depth: options.Number,
    *,
    lane_depth: Annotated[
        int | None, options.lever_option("--lane", "The same for each lane: a room's player.")
    ] = None,
    queue: options.Queue = QueueName.GUESSES,
    json: options.Json = False,
    data_dir: DataDir = None,
) -> None:
    """Let at most NUMBER jobs of a group wait, and with --lane of each of its lanes. What waits already stays.

    Both are set: what is left out is taken back.
    """
    most, lane_most = taken_back(depth), taken_back(lane_depth)
    changes = {"cap": most, "lane_cap": lane_most}
    _set(group, "cap", changes, lambda lanes, it: lanes.cap(it, most, lane_most), queue, json=json, data_dir=data_dir)


def hold(
    group: options.Group,
    time: options.Duration,
    *,
    queue: options.Queue = QueueName.GUESSES,
    json: options.Json = False,
    data_dir: DataDir = None,
) -> None:
    """Let no job of a group be claimed for TIME from now. Guesses still come in, and clocks go on."""
    ms = taken_back(time)
    pulled = _Pull(
        "hold",
        "not held" if ms is None else f"held for {ms:,} ms",
        lambda operators, room: operators.hold(room, ms),
        lambda lanes, it: lanes.hold(it, ms),
        {"hold_ms": ms},
    )
    _pull(pulled, group, queue, json=json, data_dir=data_dir)


def levers_of(room: Room, default_ceiling: int) -> dict[str, Any]:
    """A room's levers as a document: those in force, and where they come from."""
    return {
        "in_force": asdict(room.in_force(default_ceiling)),
        "plan": None if room.plan is None else room.plan.name,
        "own": asdict(room.own),
        "chat_limit": room.chat_limit,
        "paused": room.paused,
        "held_until_ms": room.held_until_ms,
    }


def _all(group: str | None, *, all_groups: bool) -> bool:
    if all_groups == (group is not None):
        raise UsageProblem("name one GROUP, or say --all for the whole queue")
    return all_groups


def _set(
    group: str,
    lever: str,
    changes: Mapping[str, int | None],
    of_group: Callable[[Lanes, str], Awaitable[None]],
    queue: QueueName,
    **how: Any,
) -> None:
    pulled = _Pull(lever, levers_said(changes), lambda operators, room: operators.set(room, changes), of_group, changes)
    _pull(pulled, group, queue, **how)


def _pull(pulled: _Pull, group: str, queue: QueueName, *, json: bool, data_dir: Any) -> None:
    group_id(queue, group)

    async def do(house: House) -> tuple[Room | None, int, dict[str, str]]:
        room: Room | None = None
        if queue is QueueName.GUESSES:
            room = await pulled.of_room(house.game.operators, RoomId(group))
        else:
            await pulled.of_group(lanes_of(house, queue), group)
        return room, house.settings.room_ceiling, await house.game.operators.titles([group])

    room, default_ceiling, titles = in_house(do, data_dir)
    document = {"queue": queue, "group": group, "title": titles.get(group), "lever": pulled.lever, **pulled.document}
    if room is None:
        answer(document, f"{queue} {named(group, titles)}: {pulled.said}, {_ON_LANES_ALONE}.", as_json=json)
        return
    document["levers"] = levers_of(room, default_ceiling)
    force = levers_said(document["levers"]["in_force"])
    answer(document, f"{named(group, titles)}: {pulled.said}. In force: {force}.", as_json=json)


def _pull_all(queue: QueueName, *, paused: bool, json: bool, data_dir: Any) -> None:
    async def do(house: House) -> int | None:
        if queue is not QueueName.GUESSES:
            lanes = lanes_of(house, queue)
            await (lanes.pause_all() if paused else lanes.resume_all())
            return None
        operators = house.game.operators
        if paused:
            return await operators.pause_all()
        await operators.resume_all()
        return None

    since_ms = in_house(do, data_dir)
    document = {"queue": queue, "all": True, "paused": paused, "since_ms": since_ms}
    said = f"All of {queue} is {'paused' if paused else 'resumed'}"
    answer(document, f"{said}." if queue is QueueName.GUESSES else f"{said}, {_ON_LANES_ALONE}.", as_json=json)
