"""Rounds open, and end before their time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.game.commitment import commit
from engine.game.model import MAX_MINUTES, MIN_MINUTES, CloseReason, Room, Round, RoundState
from engine.game.notices import Refusal, Refused, RoundOpened
from engine.game.ports import UnitOfWork
from engine.game.request import Receipt, Request
from engine.game.themes import THEMES, Theme, UnknownTheme, theme
from engine.game.world import Handed, World
from engine.ids import ROUND, RoundId

DEFAULT_MINUTES: Final = 10


@dataclass(frozen=True, slots=True)
class Rounds:
    """Opens and ends rounds. One message opens at most one, however often it arrives."""

    world: World

    async def open(self, request: Request, theme_name: str | None, minutes: int | None) -> Receipt:
        """Open a round in the room at the request's place.

        Args:
            request: who asked, and where.
            theme_name: None takes the next theme in turn.
            minutes: how long it lasts, 1 to 1440; None = 10.
        """
        try:
            chosen = theme(theme_name) if theme_name is not None else None
        except UnknownTheme:
            return await self.world.refuse(request, Refused(Refusal.UNKNOWN_THEME, words=tuple(THEMES)))
        minutes = DEFAULT_MINUTES if minutes is None else minutes
        if not MIN_MINUTES <= minutes <= MAX_MINUTES:
            return await self.world.refuse(request, Refused(Refusal.BAD_MINUTES, got=minutes, wanted=MAX_MINUTES))
        opened = await self._open(request, chosen, minutes)
        if isinstance(opened, Refused):
            return await self.world.refuse(request, opened)
        if isinstance(opened, Room):
            # The message came again: whoever took it first may have ended before the lanes were told. (The sweep
            # finds the round and its notice.)
            await self.world.pull(opened.id)
            return Receipt.DURABLE
        room, round_, handed = opened
        await self.world.pull(room.id)
        await self.world.clock.due(room.id, round_.id, minutes * 60_000)
        await self.world.relay.hand_over([handed])
        return Receipt.DURABLE

    async def _open(
        self, request: Request, chosen: Theme | None, minutes: int
    ) -> tuple[Room, Round, Handed] | Refused | Room:
        """Write the round; only the room where the message was taken before."""
        async with self.world.units.begin() as work:
            room = await work.rooms.lock((await work.rooms.at(request.place)).id)
            if not await work.inbox.first(request.source, self.world.now_ms()):
                return room
            if room.paused:
                return Refused(Refusal.ROOM_PAUSED)
            running = await work.rounds.running(room.id)
            if running is not None:
                closing = running.state is RoundState.CLOSING
                return Refused(Refusal.ROUND_CLOSING if closing else Refusal.ROUND_RUNNING)
            round_ = await self._draw(work, room, chosen, minutes)
            if not await work.rounds.add(round_):
                return Refused(Refusal.ROUND_RUNNING)
            notice = RoundOpened(
                round_.id, round_.number, round_.theme, round_.keyboard, round_.commitment, round_.minutes
            )
            handed = await self.world.put(work, room, notice)
            await work.commit()
        return room, round_, handed

    async def _draw(self, work: UnitOfWork, room: Room, chosen: Theme | None, minutes: int) -> Round:
        number = await work.rounds.next_number(room.id)
        drawn_from = chosen if chosen is not None else tuple(THEMES.values())[(number - 1) % len(THEMES)]
        drawn = self.world.draw.draw(drawn_from, number)
        opened_ms = self.world.now_ms()
        return Round(
            id=RoundId(self.world.mint(ROUND)),
            room=room.id,
            number=number,
            theme=drawn_from.name,
            keyboard=drawn.keyboard,
            secret=drawn.secret,
            nonce=drawn.nonce,
            commitment=commit(drawn.secret, drawn.nonce),
            state=RoundState.OPEN,
            opened_ms=opened_ms,
            minutes=minutes,
            deadline_ms=opened_ms + minutes * 60_000,
        )

    async def end(self, request: Request) -> Receipt:
        """End the running round now; guesses accepted so far still count. The caller has checked the admin."""
        horizon = await self.world.lanes.horizon()
        async with self.world.units.begin() as work:
            room = await work.rooms.lock((await work.rooms.at(request.place)).id)
            taken = not await work.inbox.first(request.source, self.world.now_ms())
            round_ = await work.rounds.running(room.id)
            ended = not taken and round_ is not None and await work.rounds.close(round_.id, horizon, CloseReason.ENDED)
            if ended:
                # A closing round waits for the guesses accepted before it, so its room can't stay paused.
                await work.rooms.pause(room.id, paused=False)
                await work.commit()
        if not taken and round_ is None:
            return await self.world.refuse(request, Refused(Refusal.NO_ROUND))
        if not taken and not ended:
            return await self.world.refuse(request, Refused(Refusal.ROUND_CLOSING))
        # Also where the message came again: whoever took it first may have ended between the row and the lanes.
        await self.world.pull(room.id)
        if round_ is not None and ended:
            await self.world.clock.settle(room.id, round_.id)
        return Receipt.DURABLE
