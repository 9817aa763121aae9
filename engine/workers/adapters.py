"""The game's ports on the lanes: which queue, which group, which job id, in one place.

==========  ======  ========  ==============================================
queue       group   lane      job id
==========  ======  ========  ==============================================
cm          room    player    JOB, minted at admission
cm.settle   room    (group)   the round's digits: GAM for its deadline, JOB for its crack
cm.notify   chat    (group)   NOT, the outbox row's
==========  ======  ========  ==============================================
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from engine.game.model import Room, Source
from engine.game.ports import GuessJob, RoomFull
from engine.game.tending import Moved
from engine.ids import JOB, NOTICE, ChatId, JobId, NoticeId, PlayerId, RoomId, RoundId, rebrand
from engine.lanes import Admission, Lanes, QueueFull, Submission
from engine.workers import events
from engine.workers.payload import encode

GUESSES: Final = "cm"
SETTLEMENTS: Final = "cm.settle"
NOTICES: Final = "cm.notify"
_HANDED_AT_ONCE: Final = 500
_PULLED_AT_ONCE: Final = 16
_TOLD: Final = "codemojex:levers:told"
_MARK: Final = "codemojex:memory"

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Queues:
    """The product's three queues on one Redis."""

    guesses: Lanes
    settlements: Lanes
    notices: Lanes

    @classmethod
    def on(cls, redis: Redis, replicas: int = 0, guesses: type[Lanes] = Lanes) -> Queues:
        """Open the three queues; nothing is sent yet. ``replicas`` must have a guess before it is admitted.

        ``guesses``: what that queue is made of, where it is to be compared with another kind.

        Settlements and notices are tried until they work: their rows, not their attempts, say when they are done.
        """
        return cls(
            guesses=guesses(redis, GUESSES, job_kind=JOB, replicas=replicas),
            settlements=Lanes(redis, SETTLEMENTS, job_kind=None, max_attempts=None),
            notices=Lanes(redis, NOTICES, job_kind=NOTICE, max_attempts=None),
        )


@dataclass(frozen=True, slots=True)
class RoomLanes:
    """``TendedLanes`` on the queue of guesses. ``now_ms`` is the clock that rows are written by."""

    lanes: Lanes
    redis: Redis
    default_ceiling: int
    now_ms: Callable[[], int]

    async def enqueue(self, room: Room, player: PlayerId, job: JobId, guess: GuessJob) -> bool:
        """Admit a guess; its message is the ``dedup`` key, so a message sent twice is one job.

        A weight of more than 1 is stamped on it: so the room has it also where Redis lost its levers.
        """
        weight = room.weight if room.weight > 1 else None
        try:
            admission = await self.lanes.enqueue(
                room.id, job, encode(guess), lane=player, dedup=str(guess.source), weight=weight
            )
        except QueueFull as full:
            raise RoomFull(full.depth, full.cap, full.eta_ms) from full
        return admission is Admission.enqueued

    async def knows(self, source: Source) -> bool:
        """Whether the message is remembered as a guess, whatever became of it."""
        return await self.lanes.known(str(source))

    async def pull(self, rooms: Sequence[Room]) -> None:
        """Bring every lever to what the rooms' rows say; several rooms at once."""
        for at in range(0, len(rooms), _PULLED_AT_ONCE):
            pulls = map(self._pull, rooms[at : at + _PULLED_AT_ONCE])
            for outcome in await asyncio.gather(*pulls, return_exceptions=True):
                if isinstance(outcome, BaseException):
                    raise outcome

    async def _pull(self, room: Room) -> None:
        in_force = room.in_force(self.default_ceiling)
        # The weight is set also where it is 1: a backlog that was stamped with more has another from now on.
        await self.lanes.weight(room.id, in_force.weight)
        await self.lanes.limit(room.id, in_force.ceiling)
        await self.lanes.cap(room.id, in_force.cap, in_force.lane_cap)
        held_ms = (room.held_until_ms or 0) - self.now_ms()
        await self.lanes.hold(room.id, held_ms if held_ms > 0 else None)
        if room.paused:
            await self.lanes.pause(room.id)
        else:
            await self.lanes.resume(room.id)

    async def depth(self, room: RoomId) -> int:
        """Guesses waiting in the room."""
        return await self.lanes.depth(room)

    async def oldest(self, room: RoomId) -> int | None:
        """Smallest seq that is waiting, scheduled or leased."""
        return await self.lanes.oldest(room)

    async def remember(self) -> None:
        """Leave the default ceiling that was told, for operators' processes to pull by."""
        await self.redis.set(_TOLD, self.default_ceiling)

    async def memory(self) -> str:
        """The server's run and a mark in its data: a restart may lose the newest levers, a flush loses all."""
        run = str((await self.redis.info("server")).get("run_id", ""))
        new = secrets.token_hex(8)
        mark = await self.redis.set(_MARK, new, nx=True, get=True)
        return f"{run} {mark.decode() if isinstance(mark, bytes) else new}"

    async def pause_all(self, *, paused: bool) -> None:
        """Pause the whole queue of guesses, or resume it."""
        await (self.lanes.pause_all() if paused else self.lanes.resume_all())

    async def drain(self, room: RoomId, player: PlayerId | None = None) -> int:
        """Delete what waits in the room, or in one player's lane of it."""
        return await self.lanes.drain(room, player)

    async def forget(self, room: RoomId) -> int:
        """Delete all of the room, what is in flight and levers too."""
        return await self.lanes.forget(room)

    async def room_of(self, job: JobId) -> RoomId | None:
        """The room whose lanes have the guess, or None."""
        record = await self.lanes.job(job)
        return None if record is None else RoomId(record.group)

    async def reassign(self, job: JobId, room: RoomId, player: PlayerId) -> Moved:
        """Move a waiting guess to another player's lane."""
        return Moved(await self.lanes.reassign(job, room, player))

    async def horizon(self) -> int:
        """What no seq so far is above, and none from now on is below: ``max(last, server microseconds)``.

        The last one matters where the server's clock was set back: what was admitted before that is ahead of it.
        """
        seconds, microseconds = await self.redis.time()
        return max(int(seconds) * 1_000_000 + int(microseconds), await self.lanes.newest())


async def told_ceiling(redis: Redis) -> int | None:
    """The default ceiling that workers told the lanes last; None where none did since the server has its data.

    An operator's process pulls by this one, whatever its own environment says.
    """
    told = await redis.get(_TOLD)
    return None if told is None else int(told)


@dataclass(frozen=True, slots=True)
class SettleClock:
    """``RoundClock`` on the queue of settlements.

    The deadline's job and the crack's job have different ids, so a crack need not wait for the deadline's job, and
    asking twice for either is a duplicate.

    A Redis that fails here costs nothing but time: the rows are committed, and the sweep finds every round that is due
    or closing. (A full one must not keep the guess that cracked the round from being completed, which makes room.)
    """

    lanes: Lanes

    async def due(self, room: RoomId, round_: RoundId, delay_ms: int) -> None:
        """Look at the round's deadline after ``delay_ms``."""
        await self._ask(room, round_, round_, delay_ms)

    async def settle(self, room: RoomId, round_: RoundId) -> None:
        """Settle the round as soon as it can be."""
        await self._ask(room, round_, rebrand(round_, JOB), 0)

    async def _ask(self, room: RoomId, round_: RoundId, job_id: str, delay_ms: int) -> None:
        try:
            await self.lanes.enqueue(room, job_id, round_.encode(), delay_ms=delay_ms)
        except RedisError as error:
            _log.warning(events.SETTLEMENT_NOT_ASKED_FOR, room=room, round=round_, error=type(error).__name__)


@dataclass(frozen=True, slots=True)
class NotifyRelay:
    """``Relay`` on the queue of notices."""

    lanes: Lanes

    async def hand_over(self, notices: Sequence[tuple[NoticeId, ChatId]]) -> None:
        """Put notices on their chats' lanes. One that lives there already is a duplicate, which is fine.

        A Redis that fails here costs nothing but time: the rows are committed, and the sweep hands them over.
        """
        try:
            for at in range(0, len(notices), _HANDED_AT_ONCE):
                chunk = notices[at : at + _HANDED_AT_ONCE]
                await self.lanes.enqueue_many([Submission(group=chat, job_id=id_, payload=b"") for id_, chat in chunk])
        except RedisError as error:
            _log.warning(events.HAND_OVER_FAILED, count=len(notices), error=type(error).__name__)
