"""What operators set in SQL: plans, levers of single rooms, switches for all. ``engine.store`` implements it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from engine.game.model import LeverSet, Plan, Switch
from engine.ids import RoomId


@dataclass(frozen=True, slots=True)
class PlanInUse:
    """A plan, and how many rooms are on it."""

    plan: Plan
    rooms: int


@dataclass(frozen=True, slots=True)
class TitledRoom:
    """A room as operators look for it; ``thread`` is 0 outside of a topic, ``plan`` the name of one."""

    id: RoomId
    title: str
    thread: int
    plan: str | None
    paused: bool


class Plans(Protocol):
    """Plans, who is on them, and what is set for single rooms. Whoever writes brings the lanes up to it afterwards."""

    async def all(self) -> list[PlanInUse]:
        """Every plan, by name."""

    async def get(self, name: str) -> Plan | None:
        """The plan, or None."""

    async def lock(self, name: str) -> Plan | None:
        """The plan as it stands, and nobody else's before this unit ends; None where there is none."""

    async def put(self, plan: Plan) -> None:
        """Write the plan, new or changed."""

    async def drop(self, name: str) -> None:
        """Delete the plan. No room may be on it."""

    async def on(self, name: str) -> list[RoomId]:
        """The rooms on the plan."""

    async def titled(self, part: str, limit: int) -> list[TitledRoom]:
        """Rooms whose chat has ``part`` in its title, the newest first."""

    async def give(self, rooms: Sequence[RoomId], name: str | None) -> None:
        """Put rooms on a plan, or on none."""

    async def set(self, room: RoomId, own: LeverSet) -> None:
        """Write what is set for this room alone, all four levers."""

    async def hold(self, room: RoomId, until_ms: int | None) -> None:
        """Write until when the room is held; None: it is not."""

    async def turn_on(self, switch: Switch, now_ms: int) -> int:
        """Turn a switch on; answers since when it is, which is earlier where it was on already."""

    async def turn_off(self, switch: Switch) -> None:
        """Turn a switch off."""

    async def on_since_ms(self, switch: Switch) -> int | None:
        """Since when a switch is on; None: it is off."""
