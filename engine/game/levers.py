"""The levers that a chat's own admins pull: rows first, in SQL, then in the lanes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from engine.game.clock import pause_clock, resume_clock
from engine.game.model import Room, Round, RoundState
from engine.game.notices import LeverPulled, Refusal, Refused
from engine.game.ports import UnitOfWork
from engine.game.request import Receipt, Request
from engine.game.world import World


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
            room = await work.rooms.at(request.place)
            allowed = room.allowed(self.world.default_ceiling)
            if limit > allowed:
                refusal = Refused(Refusal.LIMIT_ABOVE_ALLOWED, got=limit, wanted=allowed)
            else:
                if not await work.inbox.first(request.source, self.world.now_ms()):
                    return Receipt.DURABLE
                refusal = None
                await work.rooms.limit(room.id, limit)
                notice = LeverPulled("limit", limit=limit)
                handed = await self.world.put(work, room, notice, reply_to=request.source.message_ref)
                await work.commit()
        if refusal is not None:
            return await self.world.refuse(request, refusal)
        await self.world.lanes.pull(replace(room, chat_limit=limit))
        await self.world.relay.hand_over([handed])
        return Receipt.DURABLE

    async def _switch(self, request: Request, lever: Literal["pause", "resume"]) -> Receipt:
        paused = lever == "pause"
        async with self.world.units.begin() as work:
            room = await work.rooms.at(request.place)
            if not await work.inbox.first(request.source, self.world.now_ms()):
                return Receipt.DURABLE
            round_ = await work.rounds.running(room.id)
            refusal = _refusal(room, round_, paused=paused)
            if refusal is None:
                await work.rooms.pause(room.id, paused=paused)
                round_ = await self._move_clock(work, round_, paused=paused)
                waiting = await self.world.lanes.depth(room.id)
                notice = LeverPulled(lever, waiting=waiting)
                handed = await self.world.put(work, room, notice, reply_to=request.source.message_ref)
                await work.commit()
        if refusal is not None:
            return await self.world.refuse(request, Refused(refusal))
        await self.world.lanes.pull(replace(room, paused=paused))
        if round_ is not None and round_.deadline_ms is not None:
            await self.world.clock.due(room.id, round_.id, max(0, round_.deadline_ms - self.world.now_ms()))
        await self.world.relay.hand_over([handed])
        return Receipt.DURABLE

    async def _move_clock(self, work: UnitOfWork, round_: Round | None, *, paused: bool) -> Round | None:
        if round_ is None or round_.state is not RoundState.OPEN:
            return round_
        now_ms = self.world.now_ms()
        moved = pause_clock(round_, now_ms) if paused else resume_clock(round_, now_ms)
        await work.rounds.set_clock(moved.id, deadline_ms=moved.deadline_ms, remaining_ms=moved.remaining_ms)
        return moved


def _refusal(room: Room, round_: Round | None, *, paused: bool) -> Refusal | None:
    if not paused:
        return None if room.paused else Refusal.NOT_PAUSED
    if room.paused:
        return Refusal.ALREADY_PAUSED
    if round_ is not None and round_.state is RoundState.CLOSING:
        return Refusal.CANNOT_PAUSE_CLOSING
    return None
