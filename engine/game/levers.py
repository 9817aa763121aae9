"""The levers that a chat's own admins pull: rows first, in SQL, then in the lanes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from engine.game.clock import pause_clock, resume_clock
from engine.game.model import Place, Room, Round, RoundState
from engine.game.notices import LeverPulled, Refusal, Refused
from engine.game.ports import UnitOfWork
from engine.game.request import Receipt, Request
from engine.game.world import Handed, World


@dataclass(frozen=True, slots=True)
class Levers:
    """Pause, resume and limit. Whoever calls has made sure that an admin of the chat asked."""

    world: World

    async def pause(self, request: Request) -> Receipt:
        """Refuse new guesses, keep those accepted for later, stop the round's clock."""
        return await self._switch(request, "pause")

    async def resume(self, request: Request) -> Receipt:
        """Undo ``pause``: what was accepted is scored, the clock goes on with what it had."""
        return await self._switch(request, "resume")

    async def limit(self, request: Request, limit: int) -> Receipt:
        """Let at most ``limit`` guesses of the room be in flight at once; never above what the operator allows."""
        if limit < 1:
            return await self.world.refuse(request, Refused(Refusal.BAD_LIMIT, got=limit))
        async with self.world.units.begin() as work:
            room = await work.rooms.lock((await work.rooms.at(request.place)).id)
            allowed = room.allowed(self.world.default_ceiling)
            pulled: Handed | Refused | None = None
            if limit > allowed:
                pulled = Refused(Refusal.LIMIT_ABOVE_ALLOWED, got=limit, wanted=allowed)
            elif await work.inbox.first(request.source, self.world.now_ms()):
                await work.rooms.limit(room.id, limit)
                pulled = await self._confirm(work, request, room, LeverPulled("limit", limit=limit))
        return await self._tell(request, room, None, pulled)

    async def _switch(self, request: Request, lever: Literal["pause", "resume"]) -> Receipt:
        waiting = await self._waiting(request.place)
        async with self.world.units.begin() as work:
            room = await work.rooms.lock((await work.rooms.at(request.place)).id)
            round_: Round | None = None
            pulled: Handed | Refused | None = None
            if await work.inbox.first(request.source, self.world.now_ms()):
                round_, refusal = await switch(self.world, work, room, paused=lever == "pause")
                if refusal is None:
                    pulled = await self._confirm(work, request, room, LeverPulled(lever, waiting=waiting))
                else:
                    pulled = Refused(refusal)
        return await self._tell(request, room, round_, pulled)

    async def _waiting(self, place: Place) -> int:
        async with self.world.units.read() as work:
            room = await work.rooms.find(place)
        return await self.world.lanes.depth(room.id) if room is not None else 0

    async def _confirm(self, work: UnitOfWork, request: Request, room: Room, notice: LeverPulled) -> Handed:
        handed = await self.world.put(work, room, notice, reply_to=request.source)
        await work.commit()
        return handed

    async def _tell(
        self, request: Request, room: Room, round_: Round | None, pulled: Handed | Refused | None
    ) -> Receipt:
        if isinstance(pulled, Refused):
            return await self.world.refuse(request, pulled)
        # Also where the message came again: whoever took it first may have ended before the lanes heard of it.
        await bring_switched(self.world, room, round_)
        if pulled is not None:
            await self.world.relay.hand_over([pulled])
        return Receipt.DURABLE


async def switch(
    world: World, work: UnitOfWork, room: Room, *, paused: bool, away: bool = False
) -> tuple[Round | None, Refusal | None]:
    """Pause or resume a locked room in ``work``, and stop or restart its round's clock; the caller commits.

    Returns:
        The room's running round as it then is, and why it cannot be done (then nothing may be committed).
    """
    round_ = await work.rounds.running(room.id)
    refusal = _refusal(room, round_, paused=paused)
    if refusal is None:
        round_ = await _move_clock(world, work, round_, paused=paused)
        if paused and round_ is not None and round_.state is RoundState.CLOSING:
            refusal = Refusal.CANNOT_PAUSE_CLOSING
    if refusal is None:
        await work.rooms.pause(room.id, paused=paused, away=away)
    return round_, refusal


async def bring_switched(world: World, room: Room, round_: Round | None) -> None:
    """After that commit: tell the lanes, and have somebody look at the deadline of a clock that runs again."""
    await world.bring([room.id])
    if round_ is not None and round_.deadline_ms is not None:
        await world.clock.due(room.id, round_.id, max(0, round_.deadline_ms - world.now_ms()))


async def _move_clock(world: World, work: UnitOfWork, round_: Round | None, *, paused: bool) -> Round | None:
    """Stop or restart the round's clock; answers the round as it then is, closing where a crack was faster."""
    if round_ is None or round_.state is not RoundState.OPEN:
        return round_
    now_ms = world.now_ms()
    moved = pause_clock(round_, now_ms) if paused else resume_clock(round_, now_ms)
    is_open = await work.rounds.set_clock(moved.id, deadline_ms=moved.deadline_ms, remaining_ms=moved.remaining_ms)
    return moved if is_open else replace(round_, state=RoundState.CLOSING)


def _refusal(room: Room, round_: Round | None, *, paused: bool) -> Refusal | None:
    if not paused:
        return None if room.paused else Refusal.NOT_PAUSED
    if room.paused:
        return Refusal.ALREADY_PAUSED
    if round_ is not None and round_.state is RoundState.CLOSING:
        return Refusal.CANNOT_PAUSE_CLOSING
    return None
