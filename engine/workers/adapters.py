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

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from engine.game.model import Room
from engine.game.ports import GuessJob, RoomFull
from engine.ids import JOB, NOTICE, ChatId, JobId, NoticeId, PlayerId, RoomId, RoundId, rebrand
from engine.lanes import Admission, Lanes, QueueFull, Submission
from engine.workers import events
from engine.workers.payload import encode

GUESSES: Final = "cm"
SETTLEMENTS: Final = "cm.settle"
NOTICES: Final = "cm.notify"
_HANDED_AT_ONCE: Final = 500
_MARK: Final = "codemojex:memory"

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Queues:
    """The product's three queues on one Redis."""

    guesses: Lanes
    settlements: Lanes
    notices: Lanes

    @classmethod
    def on(cls, redis: Redis) -> Queues:
        """Open the three queues; nothing is sent yet.

        Settlements and notices are tried until they work: their rows, not their attempts, say when they are done.
        """
        return cls(
            guesses=Lanes(redis, GUESSES, job_kind=JOB),
            settlements=Lanes(redis, SETTLEMENTS, job_kind=None, max_attempts=None),
            notices=Lanes(redis, NOTICES, job_kind=NOTICE, max_attempts=None),
        )


@dataclass(frozen=True, slots=True)
class RoomLanes:
    """``GuessLanes`` on the queue of guesses."""

    lanes: Lanes
    redis: Redis
    default_ceiling: int

    async def enqueue(self, room: RoomId, player: PlayerId, job: JobId, guess: GuessJob) -> bool:
        """Admit a guess; its message is the ``dedup`` key, so a message sent twice is one job."""
        try:
            admission = await self.lanes.enqueue(room, job, encode(guess), lane=player, dedup=str(guess.source))
        except QueueFull as full:
            raise RoomFull(full.depth, full.cap, full.eta_ms) from full
        return admission is Admission.enqueued

    async def pull(self, room: Room) -> None:
        """Bring ceiling and pause to what the room's row says."""
        await self.lanes.limit(room.id, room.effective_ceiling(self.default_ceiling))
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

    async def horizon(self) -> int:
        """The server's clock in microseconds: seq follows ``max(last + 1, server microseconds)``."""
        seconds, microseconds = await self.redis.time()
        return int(seconds) * 1_000_000 + int(microseconds)

    async def memory(self) -> str:
        """The server's run and a mark in its data: a restart may lose the newest levers, a flush loses all."""
        run = str((await self.redis.info("server")).get("run_id", ""))
        new = secrets.token_hex(8)
        mark = await self.redis.set(_MARK, new, nx=True, get=True)
        return f"{run} {mark.decode() if isinstance(mark, bytes) else new}"


@dataclass(frozen=True, slots=True)
class SettleClock:
    """``RoundClock`` on the queue of settlements.

    The deadline's job and the crack's job have different ids, so a crack need not wait for the deadline's job, and
    asking twice for either is a duplicate.
    """

    lanes: Lanes

    async def due(self, room: RoomId, round_: RoundId, delay_ms: int) -> None:
        """Look at the round's deadline after ``delay_ms``."""
        await self.lanes.enqueue(room, round_, round_.encode(), delay_ms=delay_ms)

    async def settle(self, room: RoomId, round_: RoundId) -> None:
        """Settle the round as soon as it can be."""
        await self.lanes.enqueue(room, rebrand(round_, JOB), round_.encode())


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
