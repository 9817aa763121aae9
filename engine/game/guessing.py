"""A guess comes in: read it, judge whether it can be taken, put it on its player's lane."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from engine.game.model import Account, Player, Room, Round, RoundState
from engine.game.notices import Refusal, Refused
from engine.game.ports import GuessJob, RoomFull
from engine.game.reading import Chatter, Codes, read_guess
from engine.game.recent import Recent
from engine.game.request import Receipt, Request
from engine.game.themes import theme
from engine.game.world import World
from engine.ids import JOB, NOTICE, JobId, NoticeId, PlayerId, RoomId, rebrand

_REMEMBERED: Final = 10_000
_SHORTEST_SILENCE_MS: Final = 5_000
_LONGEST_SILENCE_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class Guessing:
    """Takes guesses. Nothing is scored here: an accepted guess is a job, and the score worker does the rest."""

    world: World
    _told: Recent[tuple[RoomId, PlayerId], int] = field(default_factory=lambda: Recent(_REMEMBERED), repr=False)
    """Until when a player need not be told again that the room is full, in ms."""

    async def guess(self, request: Request, text: str, *, explicit: bool) -> Receipt:
        """Take ``text`` as a guess, or say why not; chatter is passed over in silence.

        Args:
            request: who said it, and where.
            text: the message, or what followed ``/g``.
            explicit: the player asked for it by ``/g``, so whatever it is gets an answer.
        """
        scene = await self.world.units.scene(request.place, request.account)
        room, round_, player = scene.room, scene.round, scene.player
        outcome = read_guess(
            text,
            theme(round_.theme) if round_ else None,
            round_.keyboard if round_ else (),
            explicit=explicit,
            private=request.place.private,
        )
        if isinstance(outcome, Chatter):
            return Receipt.REFUSED
        if room is None:
            return await self.world.refuse(request, Refused(Refusal.NO_ROUND))
        if not isinstance(outcome, Codes) or room.paused or round_ is None or round_.state is not RoundState.OPEN:
            return await self._refuse(request, room, round_, outcome)
        if request.account is None:
            return await self._refuse_anonymous(request, room, round_)
        player = player if player is not None else await self._introduce(request.account)
        return await self._enqueue(request, room, round_, player, outcome.codes)

    async def _refuse(self, request: Request, room: Room, round_: Round | None, outcome: Codes | Refused) -> Receipt:
        async with self.world.units.read() as work:
            taken = await work.guesses.taken(request.source)
        if taken or await self.world.lanes.knows(request.source):
            # The message came again after its round went on: it was a guess, and has its answer, or will have it.
            return Receipt.DURABLE
        return await self.world.refuse(request, _refused(room, round_, outcome))

    async def _enqueue(
        self, request: Request, room: Room, round_: Round, player: Player, codes: tuple[str, ...]
    ) -> Receipt:
        job = JobId(self.world.mint(JOB))
        guess = GuessJob(round_.id, codes, request.source, self.world.now_ms())
        try:
            new = await self.world.lanes.enqueue(room, player.id, job, guess)
        except RoomFull as full:
            refused = Refused(Refusal.ROOM_FULL, got=full.depth, wanted=full.cap, eta_ms=full.eta_ms)
            told_already = self._was_told((room.id, player.id), full.eta_ms)
            return await self.world.refuse(request, refused, told_already=told_already)
        self.world.observer.guessed(new=new)
        return Receipt.DURABLE

    def _was_told(self, who: tuple[RoomId, PlayerId], eta_ms: int | None) -> bool:
        """Whether who is refused was told until when, and that is not over; else they are told now.

        Else a flood past the cap would have its chat told the same for hours. Each bot remembers by itself: where
        there are several, a player may be told by each of them.
        """
        now_ms = self.world.now_ms()
        until_ms = self._told.get(who)
        if until_ms is not None and until_ms - _LONGEST_SILENCE_MS <= now_ms < until_ms:
            return True
        silence_ms = min(max(eta_ms or 0, _SHORTEST_SILENCE_MS), _LONGEST_SILENCE_MS)
        self._told.put(who, now_ms + silence_ms)
        return False

    async def _introduce(self, account: Account) -> Player:
        async with self.world.units.begin() as work:
            player = await work.rooms.player(account)
            await work.commit()
        return player

    async def _refuse_anonymous(self, request: Request, room: Room, round_: Round) -> Receipt:
        # Told once a round: the notice takes the round's own digits, and the outbox keeps the first of an id.
        notice = NoticeId(rebrand(round_.id, NOTICE))
        async with self.world.units.begin() as work:
            handed = await self.world.put(
                work,
                room,
                Refused(Refusal.ANONYMOUS),
                reply_to=request.source,
                notice_id=notice,
            )
            await work.commit()
        await self.world.relay.hand_over([handed])
        self.world.observer.refused(Refusal.ANONYMOUS)
        return Receipt.REFUSED


def _refused(room: Room, round_: Round | None, outcome: Codes | Refused) -> Refused:
    if round_ is None:
        return Refused(Refusal.NO_ROUND)
    if room.paused:
        return Refused(Refusal.ROOM_PAUSED)
    if round_.state is not RoundState.OPEN or isinstance(outcome, Codes):
        return Refused(Refusal.ROUND_CLOSING)
    return outcome
