"""Everything a use case stands on, built once by the composition root."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from engine.game.model import Room, Source, Switch
from engine.game.notices import Notice, Refused
from engine.game.observing import Observer, Unobserved
from engine.game.ports import Draw, Outgoing, Relay, RoundClock, UnitOfWork, Units
from engine.game.request import Receipt, Request
from engine.game.tending import TendedLanes
from engine.ids import NOTICE, ChatId, NoticeId, RoomId

TOLD_ALREADY: Final = "told already"
"""Why a refusal was not said."""
Handed = tuple[NoticeId, ChatId]


@dataclass(frozen=True, slots=True)
class World:
    """The game's ports and settings.

    ``mint`` mints an id of a kind; ``now_ms`` is the wall clock; ``default_ceiling`` holds for rooms without a plan.
    """

    units: Units
    lanes: TendedLanes
    clock: RoundClock
    relay: Relay
    draw: Draw
    mint: Callable[[str], str]
    now_ms: Callable[[], int]
    default_ceiling: int
    observer: Observer = field(default_factory=Unobserved)

    async def bring(self, rooms: Sequence[RoomId]) -> None:
        """Bring the lanes to what the rooms' rows say, after a commit that changed them.

        Others may change and pull the same rooms meanwhile: whoever pulled what is no longer so pulls again, so that
        the lanes end at what was committed last, in whatever order the pulls arrived.
        """
        told: dict[RoomId, Room] = {}
        while True:
            async with self.units.read() as work:
                stand = await work.rooms.many(rooms)
            news = [room for room in stand if told.get(room.id) != room]
            if not news:
                return
            await self.lanes.pull(news)
            told.update((room.id, room) for room in news)

    async def bring_switches(self) -> None:
        """Bring the lanes to what the switches say, as `bring` does with rooms."""
        told: bool | None = None
        while True:
            async with self.units.read() as work:
                paused = await work.plans.on_since_ms(Switch.PAUSE_ALL) is not None
            if paused is told:
                return
            await self.lanes.pause_all(paused=paused)
            told = paused

    async def put(
        self,
        work: UnitOfWork,
        room: Room,
        notice: Notice,
        *,
        reply_to: Source | None = None,
        notice_id: NoticeId | None = None,
    ) -> Handed:
        """Write a notice for the room's chat into the outbox of ``work``; hand the result over after the commit."""
        id_ = notice_id if notice_id is not None else NoticeId(self.mint(NOTICE))
        await work.outbox.put([Outgoing(id_, room.chat, room.thread, notice, reply_to, self.now_ms())])
        return id_, room.chat

    async def reply(self, request: Request, notice: Notice, *, told_already: bool = False) -> None:
        """Say ``notice`` as the answer to ``request``, in a unit of work of its own.

        Where its player was ``told_already``, it is only written down: the chat is spared the same words again.
        """
        async with self.units.begin() as work:
            room = await work.rooms.at(request.place)
            if isinstance(notice, Refused) and request.account is not None:
                # Said among other answers, a refusal must name whom it answers.
                notice = replace(notice, player=(await work.rooms.player(request.account)).id)
            handed = await self.put(work, room, notice, reply_to=request.source)
            if told_already:
                await work.outbox.drop([handed[0]], TOLD_ALREADY, self.now_ms())
            await work.commit()
        if not told_already:
            await self.relay.hand_over([handed])

    async def refuse(self, request: Request, refused: Refused, *, told_already: bool = False) -> Receipt:
        """Tell why ``request`` was not taken. Refusals change nothing, so a repeated message is told again."""
        await self.reply(request, refused, told_already=told_already)
        self.observer.refused(refused.reason)
        return Receipt.REFUSED
