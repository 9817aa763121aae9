"""Plans, who is on them, and what operators set for single rooms or switch on for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from sqlalchemy import Row, delete, func, select, update

from engine.game.model import LeverSet, Plan, Switch
from engine.game.plans import PlanInUse, TitledRoom
from engine.ids import RoomId
from engine.store.dialect import insert, one_of
from engine.store.tables import chats, plans, rooms, switches
from engine.store.text import storable
from engine.store.transaction import Transaction

_LEVERS: Final = ("weight", "ceiling", "cap", "lane_cap")
_AT_ONCE: Final = 500  # SQLite takes a limited number of values in one statement


class SqlPlans:
    """Implements ``engine.game.plans.Plans``."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    async def all(self) -> list[PlanInUse]:
        """Every plan, by name."""
        on = select(rooms.c.plan, func.count().label("on_it")).where(rooms.c.plan.is_not(None)).group_by(rooms.c.plan)
        counted = on.subquery()
        found = await self._transaction.rows(
            select(plans, counted.c.on_it).outerjoin(counted, counted.c.plan == plans.c.name).order_by(plans.c.name)
        )
        return [PlanInUse(_plan(row), row.on_it or 0) for row in found]

    async def get(self, name: str) -> Plan | None:
        """The plan, or None."""
        row = await self._transaction.row(select(plans).where(plans.c.name == name))
        return None if row is None else _plan(row)

    async def lock(self, name: str) -> Plan | None:
        """The plan as it stands, and nobody else's before this unit ends; None where there is none."""
        locked = select(plans).where(plans.c.name == name).with_for_update()
        rows = await self._transaction.written(locked)
        return _plan(rows[0]) if rows else None

    async def put(self, plan: Plan) -> None:
        """Write the plan, new or changed."""
        levers = asdict(plan.levers)
        await self._transaction.write(
            insert(self._transaction.dialect, plans)
            .values(name=plan.name, **levers)
            .on_conflict_do_update(index_elements=[plans.c.name], set_=levers)
        )

    async def drop(self, name: str) -> None:
        """Delete the plan. No room may be on it."""
        await self._transaction.write(delete(plans).where(plans.c.name == name))

    async def on(self, name: str) -> list[RoomId]:
        """The rooms on the plan."""
        found = await self._transaction.rows(select(rooms.c.id).where(rooms.c.plan == name).order_by(rooms.c.id))
        return [RoomId(row.id) for row in found]

    async def titled(self, part: str, limit: int) -> list[TitledRoom]:
        """Rooms whose chat has ``part`` in its title, the newest first. Looks through all."""
        found = await self._transaction.rows(
            select(rooms.c.id, chats.c.title, rooms.c.thread, rooms.c.plan, rooms.c.paused)
            .join(chats, chats.c.id == rooms.c.chat)
            .where(chats.c.title.icontains(storable(part), autoescape=True))
            .order_by(rooms.c.id.desc())
            .limit(limit)
        )
        return [TitledRoom(RoomId(row.id), row.title, row.thread, row.plan, row.paused) for row in found]

    async def give(self, rooms_: Sequence[RoomId], name: str | None) -> None:
        """Put rooms on a plan, or on none."""
        for at in range(0, len(rooms_), _AT_ONCE):
            among = one_of(self._transaction.dialect, rooms.c.id, rooms_[at : at + _AT_ONCE])
            await self._transaction.write(update(rooms).where(among).values(plan=name))

    async def set(self, room: RoomId, own: LeverSet) -> None:
        """Write what is set for this room alone, all four levers."""
        await self._transaction.write(update(rooms).where(rooms.c.id == room).values(**asdict(own)))

    async def hold(self, room: RoomId, until_ms: int | None) -> None:
        """Write until when the room is held; None: it is not."""
        await self._transaction.write(update(rooms).where(rooms.c.id == room).values(held_until_ms=until_ms))

    async def turn_on(self, switch: Switch, now_ms: int) -> int:
        """Turn a switch on; answers since when it is, which is earlier where it was on already."""
        (row,) = await self._transaction.written(
            insert(self._transaction.dialect, switches)
            .values(name=switch, since_ms=now_ms)
            # Not "do nothing": this locks and returns the row that is there.
            .on_conflict_do_update(index_elements=[switches.c.name], set_={"since_ms": switches.c.since_ms})
            .returning(switches.c.since_ms)
        )
        return int(row.since_ms)

    async def turn_off(self, switch: Switch) -> None:
        """Turn a switch off."""
        await self._transaction.write(delete(switches).where(switches.c.name == switch))

    async def on_since_ms(self, switch: Switch) -> int | None:
        """Since when a switch is on; None: it is off."""
        row = await self._transaction.row(select(switches.c.since_ms).where(switches.c.name == switch))
        return None if row is None else int(row.since_ms)


def levers_of(row: Row[Any], prefix: str = "") -> LeverSet:
    """The levers that a row has in columns of these names."""
    return LeverSet(**{name: row._mapping[prefix + name] for name in _LEVERS})  # noqa: SLF001 - SQLAlchemy's public name


def _plan(row: Row[Any]) -> Plan:
    return Plan(row.name, levers_of(row))
