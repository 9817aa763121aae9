"""The settlement worker: each job is a look at one round, as far as it can go now."""

from __future__ import annotations

from typing import Final

import structlog
from redis.exceptions import RedisClusterException, RedisError

from engine.game.model import Round
from engine.game.settling import Later, Settling
from engine.ids import ROUND, BadId, NodeLost, RoundId, check
from engine.lanes import Job, Lanes
from engine.store.errors import StoreUnavailable
from engine.workers import events

_LATEST_MS: Final = 2_000
_FAILED_LATEST_MS: Final = 60_000
_OUTSIDE: Final = (StoreUnavailable, RedisError, RedisClusterException, OSError, NodeLost)
"""What is no round's fault, and would fail the next one, too."""

_log = structlog.get_logger(__name__)


class SettleWorker:
    """Handles jobs of the settlement queue.

    Args:
        lanes: the queue of settlements.
        settling: the game's use case.
    """

    def __init__(self, lanes: Lanes, settling: Settling) -> None:
        self._lanes = lanes
        self._settling = settling

    async def handle(self, jobs: list[Job]) -> None:
        """Settle what can be settled; the rest is looked at again when its time has come.

        A round that can't be settled delays itself alone.

        Raises:
            StoreUnavailable, RedisError: what is left was not settled.
        """
        for job in jobs:
            try:
                await self._look(job)
            except _OUTSIDE:
                raise
            except Exception as error:  # noqa: BLE001 - whatever it is, it is put down to this one round
                await self._failed(job, error)

    async def _look(self, job: Job) -> None:
        try:
            round_id = RoundId(check(job.payload.decode("ascii", "replace"), kind=ROUND, argument="payload"))
        except BadId:
            # Nothing is lost with it: the sweep finds every round that nobody looks after.
            _log.error(events.POISONED, job=job.id, room=job.group, verdict="dropped")
            await self._lanes.complete([job])
            return
        outcome = await self._settling.settle(round_id)
        if isinstance(outcome, Later):
            # A photo finish that waits long (a paused room's guesses) is looked at less and less often.
            delay_ms = max(outcome.delay_ms, min(_LATEST_MS, 10 * 2 ** min(job.attempts, 10)))
            await self._lanes.retry(job, "not yet", delay_ms)
            return
        if isinstance(outcome, Round):
            _log.info(events.SETTLED, room=outcome.room, round=outcome.id, seq=outcome.closing_seq)
        await self._lanes.complete([job])

    async def _failed(self, job: Job, error: Exception) -> None:
        """Try it again later and later, and never give it up: its round would stay open for good."""
        delay_ms = min(_FAILED_LATEST_MS, 250 * 2 ** min(job.attempts, 10))
        verdict = await self._lanes.retry(job, type(error).__name__, delay_ms)
        _log.error(
            events.POISONED,
            job=job.id,
            room=job.group,
            round=job.payload.decode("ascii", "replace"),
            attempts=job.attempts,
            verdict=verdict.value,
            exc_info=error,
        )
