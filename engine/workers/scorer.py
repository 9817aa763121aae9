"""The score worker: a claimed batch becomes guesses, standings and answers in one transaction, then is completed.

Scoring is pure, so a batch that is scored twice (a lease lapsed, a process died) writes nothing twice: the guess's
row is unique by its job and by its message, and the answer's id is the job's own digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog

from engine.game.finish import counts, crack_seq
from engine.game.model import CloseReason, Room, Round, ScoredGuess
from engine.game.notices import Answer
from engine.game.ports import GuessJob, Outgoing, Relay, RoundClock, UnitOfWork, Units
from engine.game.recent import Recent
from engine.game.scoring import WINNING_TOTAL, Scorer, percent
from engine.ids import NOTICE, ChatId, JobId, NoticeId, PlayerId, RoomId, RoundId, rebrand
from engine.lanes import Job, Lanes, Observer, Unobserved
from engine.store.errors import StatementRefused, StoreUnavailable
from engine.workers import events
from engine.workers.payload import BadPayload, decode

_REMEMBERED: Final = 4096

_log = structlog.get_logger(__name__)


class UnknownRound(LookupError):  # noqa: N818 - reads as the event it is
    """A guess speaks of a round, or rides a room's lane, that SQL does not know."""


@dataclass(frozen=True, slots=True)
class _Read:
    job: Job
    guess: GuessJob


@dataclass(slots=True)
class _Written:
    """What must be told once the batch is committed."""

    notices: list[tuple[NoticeId, ChatId]] = field(default_factory=list)
    cracked: set[tuple[RoomId, RoundId]] = field(default_factory=set)
    new: int = 0


class ScoreWorker:
    """Handles batches of guesses.

    Args:
        lanes: the queue of guesses.
        units: where the rows go.
        relay: hands committed answers on.
        clock: told when a round is cracked.
        now_ms: the wall clock, for the answers' rows.
        observer: is told of guesses that failed.
    """

    def __init__(
        self,
        lanes: Lanes,
        units: Units,
        relay: Relay,
        clock: RoundClock,
        now_ms: Callable[[], int],
        *,
        observer: Observer | None = None,
    ) -> None:
        self._lanes = lanes
        self._units = units
        self._relay = relay
        self._clock = clock
        self._now_ms = now_ms
        self._observer: Observer = observer if observer is not None else Unobserved()
        self._scorers: Recent[RoundId, Scorer] = Recent(_REMEMBERED)
        self._rooms: Recent[RoomId, Room] = Recent(_REMEMBERED)

    async def handle(self, jobs: list[Job]) -> None:
        """Score, write, commit, complete; then hand the answers over.

        Raises:
            StoreUnavailable: nothing of what is left was written.
            RedisError: what was written is committed, and comes again as a duplicate.
        """
        read = [guess for job in jobs if (guess := await self._read(job)) is not None]
        if read:
            await self._batch(read)

    async def _read(self, job: Job) -> _Read | None:
        try:
            return _Read(job, decode(job.payload))
        except BadPayload as error:
            await self._poisoned(job, error)
            return None

    async def _batch(self, batch: Sequence[_Read]) -> None:
        try:
            written = await self._write(batch)
        except (StoreUnavailable, StatementRefused):
            # No job's fault: burying guesses because the schema is wrong would lose them.
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it is put down to one job
            # One of them is poison: alone, each hurts only itself.
            if len(batch) == 1:
                await self._poisoned(batch[0].job, error)
                return
            for read in batch:
                await self._batch([read])
            return
        for room, round_ in written.cracked:
            await self._clock.settle(room, round_)
            _log.info(events.CRACKED, room=room, round=round_)
        await self._lanes.complete([read.job for read in batch])
        await self._relay.hand_over(written.notices)
        _log.debug(events.SCORED, count=len(batch), new=written.new)

    async def _poisoned(self, job: Job, error: Exception) -> None:
        verdict = await self._lanes.retry(job, f"{type(error).__name__}: {error}"[:500])
        self._observer.retried(job, error, verdict)
        _log.error(
            events.POISONED,
            job=job.id,
            room=job.group,
            attempts=job.attempts,
            verdict=verdict.value,
            error=type(error).__name__,
        )

    async def _write(self, batch: Sequence[_Read]) -> _Written:
        async with self._units.begin() as work:
            rounds = await work.rounds.many(sorted({read.guess.round for read in batch}))
            rooms = await self._rooms_of(work, batch)
            scored = self._score(batch, rounds)
            written = _Written()
            # The round's row first, as settlement takes it: in the other order the two could wait for each other.
            await self._close_cracked(work, scored, written)
            new = await work.guesses.record(scored)
            written.new = len(new)
            await self._answer(work, scored, new, rooms, written)
            await work.commit()
        return written

    async def _rooms_of(self, work: UnitOfWork, batch: Sequence[_Read]) -> dict[RoomId, Room]:
        rooms: dict[RoomId, Room] = {}
        for room_id in {RoomId(read.job.group) for read in batch}:
            room = self._rooms.get(room_id)
            if room is None:
                room = await work.rooms.get(room_id)
                if room is None:
                    raise UnknownRound(f"room {room_id} has no row")
                self._rooms.put(room_id, room)
            rooms[room_id] = room
        return rooms

    def _score(self, batch: Sequence[_Read], rounds: dict[RoundId, Round]) -> list[ScoredGuess]:
        totals = [self._scorer(read.guess.round, rounds).score(read.guess.codes).total for read in batch]
        tries: dict[RoundId, list[tuple[int, int]]] = {}
        for read, total in zip(batch, totals, strict=True):
            tries.setdefault(read.guess.round, []).append((read.job.seq, total))
        cracks = {round_: crack_seq(scored) for round_, scored in tries.items()}
        return [
            ScoredGuess(
                job=JobId(read.job.id),
                round=read.guess.round,
                room=RoomId(read.job.group),
                player=PlayerId(read.job.lane),
                codes=read.guess.codes,
                total=total,
                seq=read.job.seq,
                counted=counts(rounds[read.guess.round], read.job.seq, cracks[read.guess.round]),
                source=read.guess.source,
                accepted_ms=read.guess.accepted_ms,
            )
            for read, total in zip(batch, totals, strict=True)
        ]

    def _scorer(self, round_id: RoundId, rounds: dict[RoundId, Round]) -> Scorer:
        scorer = self._scorers.get(round_id)
        if round_id not in rounds:
            raise UnknownRound(f"round {round_id} has no row")
        if scorer is None:
            scorer = Scorer(rounds[round_id].secret)
            self._scorers.put(round_id, scorer)
        return scorer

    async def _answer(
        self,
        work: UnitOfWork,
        scored: Sequence[ScoredGuess],
        new: set[JobId],
        rooms: dict[RoomId, Room],
        written: _Written,
    ) -> None:
        now_ms = self._now_ms()
        outgoing: list[Outgoing] = []
        again: list[NoticeId] = []
        for guess in scored:
            id_ = NoticeId(rebrand(guess.job, NOTICE))
            if guess.job not in new:
                again.append(id_)
                continue
            room = rooms[guess.room]
            answer = Answer(guess.player, guess.total, percent(guess.total), guess.counted)
            outgoing.append(Outgoing(id_, room.chat, room.thread, answer, guess.source, now_ms))
            written.notices.append((id_, room.chat))
        await work.outbox.put(outgoing)
        if again:
            # A guess that is there by its job has its answer said again unless it was sent; one that is there only
            # by its message has no answer under this id, and is dropped.
            written.notices.extend(await work.outbox.waiting(again))

    async def _close_cracked(self, work: UnitOfWork, scored: Sequence[ScoredGuess], written: _Written) -> None:
        first: dict[tuple[RoomId, RoundId], int] = {}
        for guess in scored:
            if guess.counted and guess.total == WINNING_TOTAL:
                key = (guess.room, guess.round)
                first[key] = min(first.get(key, guess.seq), guess.seq)
        for (room, round_), seq in sorted(first.items()):
            await work.rounds.close(round_, seq, CloseReason.CRACKED)
            written.cracked.add((room, round_))
