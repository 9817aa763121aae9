"""What operators do with rooms: rows first, in SQL, then in the lanes, as with the chats' own levers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from engine.game import errors
from engine.game.levers import bring_switched, switch
from engine.game.model import MAX_LEVER, PLAN_NAME_LENGTH, LeverSet, Plan, Room, Round, Switch
from engine.game.notices import LeverPulled, Refusal
from engine.game.plans import PlanInUse, TitledRoom
from engine.game.ports import UnitOfWork
from engine.game.tending import Moved
from engine.game.world import World
from engine.ids import JobId, PlayerId, RoomId

Changes = Mapping[str, int | None]
"""Levers to set, by their names in ``LeverSet``; None takes one back, one that is left out stays as it is."""

MAX_HOLD_MS: Final = 366 * 86_400_000
_PLAN_NAME: Final = re.compile(rf"[a-z][a-z0-9-]{{0,{PLAN_NAME_LENGTH - 1}}}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Operators:
    """Plans, levers of single rooms, and their backlog. In force at once, and kept where Redis loses its data.

    Raises:
        OperationRefused: it can't be done, and why; nothing was changed.
    """

    world: World

    async def plans(self) -> list[PlanInUse]:
        """Every plan, by name, and how many rooms are on it."""
        async with self.world.units.read() as work:
            return await work.plans.all()

    async def rooms_on(self, name: str) -> tuple[Plan, list[RoomId]]:
        """A plan, and who is on it."""
        async with self.world.units.read() as work:
            plan = await work.plans.get(name)
            if plan is None:
                raise errors.UnknownPlan(name)
            return plan, await work.plans.on(name)

    async def change_plan(self, name: str, changes: Changes) -> tuple[Plan, list[RoomId]]:
        """Make the plan, or change it; every room on it is pulled. Answers it and those rooms."""
        if _PLAN_NAME.fullmatch(name) is None:
            raise errors.BadPlanName(name)
        _check(changes)
        async with self.world.units.begin() as work:
            before = await work.plans.lock(name)
            plan = Plan(name, replace(before.levers if before is not None else LeverSet(), **changes))
            await work.plans.put(plan)
            rooms = await work.plans.on(name)
            await work.commit()
        await self.world.bring(rooms)
        return plan, rooms

    async def drop_plan(self, name: str) -> list[RoomId]:
        """Delete the plan; the rooms on it are on none from then on. Answers those rooms."""
        async with self.world.units.begin() as work:
            if await work.plans.lock(name) is None:
                raise errors.UnknownPlan(name)
            rooms = await work.plans.on(name)
            await work.plans.give(rooms, None)
            await work.plans.drop(name)
            await work.commit()
        await self.world.bring(rooms)
        return rooms

    async def give(self, room_id: RoomId, name: str | None) -> Room:
        """Put a room on a plan, or on none."""
        async with self.world.units.begin() as work:
            if name is not None and await work.plans.lock(name) is None:
                raise errors.UnknownPlan(name)
            await _locked(work, room_id)
            await work.plans.give([room_id], name)
            await work.commit()
        return await self._brought(room_id)

    async def set(self, room_id: RoomId, changes: Changes) -> Room:
        """Set levers of this one room; they win over its plan's."""
        _check(changes)
        async with self.world.units.begin() as work:
            room = await _locked(work, room_id)
            await work.plans.set(room_id, replace(room.own, **changes))
            await work.commit()
        return await self._brought(room_id)

    async def hold(self, room_id: RoomId, hold_ms: int | None) -> Room:
        """Let none of the room's guesses be claimed for ``hold_ms`` from now, whatever hold it had; None ends it."""
        if hold_ms is not None and not 1 <= hold_ms <= MAX_HOLD_MS:
            raise errors.BadLever("the hold in ms", hold_ms, MAX_HOLD_MS)
        async with self.world.units.begin() as work:
            await _locked(work, room_id)
            await work.plans.hold(room_id, None if hold_ms is None else self.world.now_ms() + hold_ms)
            await work.commit()
        return await self._brought(room_id)

    async def pause(self, room_id: RoomId) -> Room:
        """Do what the chat's own ``/pause`` does, and tell the chat; nothing more where it is paused already."""
        return await self._switch(room_id, "pause")

    async def resume(self, room_id: RoomId) -> Room:
        """Undo ``pause``, whoever asked for it."""
        return await self._switch(room_id, "resume")

    async def pause_all(self) -> int:
        """Let no guess of any room be claimed until `resume_all`; they still come in, and rounds' clocks go on.

        Answers since when, in ms: an earlier time where it was so already.
        """
        async with self.world.units.begin() as work:
            since_ms = await work.plans.turn_on(Switch.PAUSE_ALL, self.world.now_ms())
            await work.commit()
        await self.world.bring_switches()
        return since_ms

    async def resume_all(self) -> None:
        """End `pause_all`; rooms that are paused by themselves stay so."""
        async with self.world.units.begin() as work:
            await work.plans.turn_off(Switch.PAUSE_ALL)
            await work.commit()
        await self.world.bring_switches()

    async def drain(self, room_id: RoomId, player: PlayerId | None = None) -> int:
        """Delete the guesses that wait in the room, or those of one player; they count as done. Answers how many."""
        await self._known(room_id)
        return await self.world.lanes.drain(room_id, player)

    async def forget(self, room_id: RoomId) -> int:
        """Delete all guesses of the room, also those in flight, and take back every lever; answers how many guesses.

        Rounds, standings and what was scored stay. A clock that stood still runs again.
        """
        async with self.world.units.begin() as work:
            room = await _locked(work, room_id)
            round_: Round | None = None
            if room.paused:
                round_, _ = await switch(self.world, work, room, paused=False)
            await work.plans.give([room_id], None)
            await work.plans.set(room_id, LeverSet())
            await work.plans.hold(room_id, None)
            await work.rooms.limit(room_id, None)
            running = await work.rounds.running(room_id) is not None
            await work.commit()
        forgotten = await self.world.lanes.forget(room_id)
        if running:  # its next guesses need the default ceiling again
            await bring_switched(self.world, room, round_)
        return forgotten

    async def reassign(self, job: JobId, room_id: RoomId, player: PlayerId) -> Moved:
        """Make a waiting guess another player's of the same room: it keeps its place, and its answer goes to them."""
        async with self.world.units.read() as work:
            if await work.rooms.get(room_id) is None:
                raise errors.UnknownRoom(room_id)
            if not await work.rooms.plays(player):
                raise errors.UnknownPlayer(player)
        home = await self.world.lanes.room_of(job)
        if home is None:
            raise errors.UnknownGuess(job)
        if home != room_id:
            raise errors.GuessElsewhere(job, home)
        return await self.world.lanes.reassign(job, room_id, player)

    async def tell_again(self) -> int:
        """Tell the lanes every lever there is, as after a loss; answers of how many rooms."""
        async with self.world.units.read() as work:
            rooms = await work.rooms.pulled()
        await self.world.bring_switches()
        await self.world.bring([room.id for room in rooms])
        return len(rooms)

    async def room(self, room_id: RoomId) -> Room:
        """The room with its levers as they stand in SQL."""
        return await self._known(room_id)

    async def find(self, part: str, limit: int) -> list[TitledRoom]:
        """Rooms whose chat has ``part`` in its title, the newest first."""
        async with self.world.units.read() as work:
            return await work.plans.titled(part, limit)

    async def titles(self, ids: list[str]) -> dict[str, str]:
        """What the chats of these rooms, or these chats, are called; unknown ids are left out."""
        async with self.world.units.read() as work:
            return await work.rooms.titles(ids)

    async def _switch(self, room_id: RoomId, lever: Literal["pause", "resume"]) -> Room:
        waiting = await self.world.lanes.depth(room_id)
        async with self.world.units.begin() as work:
            room = await _locked(work, room_id)
            round_, refusal = await switch(self.world, work, room, paused=lever == "pause")
            if refusal is Refusal.CANNOT_PAUSE_CLOSING:
                raise errors.RoundCloses(room_id)
            handed = None
            if refusal is None:
                handed = await self.world.put(work, room, LeverPulled(lever, waiting=waiting))
                await work.commit()
        await bring_switched(self.world, room, round_)
        if handed is not None:
            await self.world.relay.hand_over([handed])
        return await self._known(room_id)

    async def _brought(self, room_id: RoomId) -> Room:
        await self.world.bring([room_id])
        return await self._known(room_id)

    async def _known(self, room_id: RoomId) -> Room:
        async with self.world.units.read() as work:
            room = await work.rooms.get(room_id)
        if room is None:
            raise errors.UnknownRoom(room_id)
        return room


async def _locked(work: UnitOfWork, room_id: RoomId) -> Room:
    if await work.rooms.get(room_id) is None:
        raise errors.UnknownRoom(room_id)
    return await work.rooms.lock(room_id)


def _check(changes: Changes) -> None:
    for lever, value in changes.items():
        if value is not None and not 1 <= value <= MAX_LEVER:
            raise errors.BadLever(lever, value)
