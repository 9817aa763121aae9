"""Chats that move, and chats that the bot is no longer in: what the outer world does to a room's place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.game.levers import bring_switched, switch
from engine.game.model import Chat, CloseReason, Room, Round
from engine.game.notices import LeverPulled
from engine.game.ports import UnitOfWork
from engine.game.world import Handed, World
from engine.ids import RoomId, RoundId

_Closed = tuple[RoomId, RoundId]

SILENT: Final = "the bot is not in the chat"


@dataclass(frozen=True, slots=True)
class Chats:
    """Follows chats. Every sign may come twice, late, and in any order."""

    world: World

    async def moved(self, old_ref: int, new_ref: int) -> None:
        """The chat known as ``old_ref`` is ``new_ref`` from now on, with its rooms and all that waits in them.

        Whatever still comes from the old one counts as come from the new one. Where the new one has rooms already,
        a chat in which a round was ever opened keeps its own, the old one's before the new one's.
        """
        if old_ref == new_ref:  # no move: written down, it would lead to itself, and no later one would be followed
            return
        horizon = await self.world.lanes.horizon()
        async with self.world.units.begin() as work:
            closed = await self._move(work, old_ref, new_ref, horizon)
            await work.commit()
        await self.world.bring([room for room, _ in closed])
        for room, round_ in closed:
            await self.world.clock.settle(room, round_)
        # It is there, whatever was heard of the old one.
        await self.returned(new_ref)

    async def left(self, chat_ref: int, thread: int | None = None) -> None:
        """The bot can't speak to the chat (or to one topic) any more: its rooms pause, what it is owed is dropped."""
        async with self.world.units.begin() as work:
            chat = await work.chats.lock(chat_ref)
            if chat is None or chat.moved:
                return
            if thread is None:
                await work.chats.away(chat.id, away=True)
            paused: list[tuple[Room, Round | None]] = []
            for room in await self._rooms(work, chat, thread):
                if not room.paused:
                    round_, refusal = await switch(self.world, work, room, paused=True, away=True)
                    if refusal is None:
                        paused.append((room, round_))
            await work.outbox.drop_all(chat.id, thread, SILENT, self.world.now_ms())
            await work.commit()
        for room, round_ in paused:
            await bring_switched(self.world, room, round_)

    async def returned(self, chat_ref: int, thread: int | None = None) -> None:
        """The bot can speak again: rooms that paused because it couldn't go on, those that an admin paused don't."""
        resumed: list[tuple[Room, Round | None, Handed]] = []
        async with self.world.units.begin() as work:
            chat = await work.chats.lock(chat_ref)
            if chat is None or chat.moved:
                return
            await work.chats.away(chat.id, away=False)
            for room in await self._rooms(work, chat, thread):
                if room.away:
                    round_, refusal = await switch(self.world, work, room, paused=False)
                    if refusal is None:
                        handed = await self.world.put(work, room, LeverPulled("resume"))
                        resumed.append((room, round_, handed))
            await work.commit()
        for room, round_, _ in resumed:
            await bring_switched(self.world, room, round_)
        await self.world.relay.hand_over([handed for _, _, handed in resumed])

    @staticmethod
    async def _rooms(work: UnitOfWork, chat: Chat, thread: int | None) -> list[Room]:
        """The chat's rooms, or the topic's, locked."""
        rooms = await work.chats.rooms(chat.id)
        return [await work.rooms.lock(room.id) for room in rooms if thread is None or room.thread == thread]

    async def _move(self, work: UnitOfWork, old_ref: int, new_ref: int, horizon: int) -> list[_Closed]:
        """Write the move; answers the rounds that it closed."""
        old, new = await work.chats.lock(old_ref), await work.chats.lock(new_ref)
        if (old is not None and old.moved) or (new is not None and new.moved):
            return []
        if new is None:
            if old is not None:
                await work.chats.rename(old, new_ref)
            return []
        if old is None:
            await work.chats.point(old_ref, new)
            return []
        stays, goes = (old, new) if await work.chats.played(old.id) else (new, old)
        crowded = await work.chats.merge(stays, goes, new_ref=new_ref, old_ref=old_ref)
        return [closed for room in crowded if (closed := await self._close(work, room, horizon)) is not None]

    @staticmethod
    async def _close(work: UnitOfWork, room_id: RoomId, horizon: int) -> _Closed | None:
        """End the round of a room that nobody reaches any more; what it took so far counts."""
        room = await work.rooms.lock(room_id)
        round_ = await work.rounds.running(room.id)
        if round_ is None or not await work.rounds.close(round_.id, horizon, CloseReason.ENDED):
            return None
        # A closing round waits for the guesses accepted before it, so its room can't stay paused.
        await work.rooms.pause(room.id, paused=False)
        return room.id, round_.id
