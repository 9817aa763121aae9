"""The delivery worker: one chat's notices are claimed together, said in one message, marked sent, and the chat cools.

``claim_group`` keeps a chat off the ring while its notices are in flight, so one worker at a time speaks for a chat
and its notices stay in order.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import takewhile
from typing import Final

import structlog
from redis.exceptions import RedisError

from engine.game.ports import OutboxItem, UnitOfWork, Units
from engine.ids import NoticeId
from engine.lanes import Job, Lanes
from engine.store.errors import StoreUnavailable
from engine.workers import events
from engine.workers.ports import Delivered, Messenger, Told, TryLater, Unreachable
from engine.workers.stopping import pause_unless

_MARK_AGAIN_S: Final = 0.2
_MARK_AGAIN_MOST_S: Final = 5.0

_log = structlog.get_logger(__name__)


class SpeakWorker:
    """Handles one chat's claimed notices.

    Args:
        lanes: the queue of notices.
        units: where the outbox is.
        messenger: says them.
        now_ms: the wall clock.
        lease_ms: how long a claim lasts; renewed until what was said is settled.
    """

    def __init__(
        self, lanes: Lanes, units: Units, messenger: Messenger, now_ms: Callable[[], int], lease_ms: int
    ) -> None:
        self._lanes = lanes
        self._units = units
        self._messenger = messenger
        self._now_ms = now_ms
        self._lease_ms = lease_ms

    async def handle(self, jobs: list[Job]) -> None:
        """Say as much of what was claimed as one message holds; the rest goes back to its place."""
        async with self._units.read() as work:
            items = await work.outbox.load([NoticeId(job.id) for job in jobs])
        unsaid = {item.id for item in items}
        said_before = [job for job in jobs if job.id not in unsaid]
        if said_before:
            await self._lanes.complete(said_before)
        if items:
            claimed = [job for job in jobs if job.id in unsaid]
            async with self._kept(claimed):
                await self._say(claimed, _one_thread(items))

    @asynccontextmanager
    async def _kept(self, jobs: Sequence[Job]) -> AsyncIterator[None]:
        """Keep the lease, however long Telegram or SQL take: once it lapsed, another would say the same."""
        done = asyncio.Event()
        renewal = asyncio.create_task(self._renew(jobs, done), name="lease of notices")
        try:
            yield
        finally:
            done.set()
            await renewal

    async def _renew(self, jobs: Sequence[Job], done: asyncio.Event) -> None:
        while not await pause_unless(done, self._lease_ms / 3_000):
            with suppress(RedisError, OSError):
                await self._lanes.extend(jobs, self._lease_ms)

    async def _say(self, jobs: Sequence[Job], items: Sequence[OutboxItem]) -> None:
        delivered, tried = await self._deliver(items)
        if isinstance(delivered, TryLater):
            await self._put_off(jobs, delivered)
            return
        count = delivered.count if isinstance(delivered, Told) else len(tried)
        over = [item.id for item in tried[:count]]
        if isinstance(delivered, Told):
            await self._mark(lambda work: work.outbox.sent(over, self._now_ms()))
            _log.info(events.SAID, chat=items[0].chat, count=count)
        else:
            reason = delivered.reason
            await self._mark(lambda work: work.outbox.drop(over, reason, self._now_ms()))
            _log.warning(events.DROPPED, chat=items[0].chat, count=count, reason=reason)
        settled = set(over)
        left = [job for job in jobs if job.id not in settled]
        if left:
            await self._lanes.release(left)
        cooldown_ms = delivered.cooldown_ms if isinstance(delivered, Told) else 0
        await self._lanes.complete([job for job in jobs if job.id in settled], cooldown_ms=cooldown_ms)

    async def _deliver(self, items: Sequence[OutboxItem]) -> tuple[Delivered, Sequence[OutboxItem]]:
        """Say ``items``; where one can't be put into words, the first is tried alone, then dropped."""
        try:
            return await self._messenger.say(items), items
        except Exception as error:  # noqa: BLE001 - a notice that is a bug must hurt only itself
            _log.exception(events.POISONED, chat=items[0].chat, notice=items[0].id, count=len(items))
            if len(items) > 1:
                return await self._deliver(items[:1])
            return Unreachable(f"can't be said: {type(error).__name__}"), items

    async def _put_off(self, jobs: Sequence[Job], later: TryLater) -> None:
        _log.info(events.PUT_OFF, chat=jobs[0].group, count=len(jobs), delay_ms=later.delay_ms, reason=later.reason)
        await self._lanes.hold(jobs[0].group, later.delay_ms)
        await self._lanes.release(jobs)

    async def _mark(self, mark: Callable[[UnitOfWork], Awaitable[None]]) -> None:
        """Record what was said, however long SQL takes: giving up here would say it twice."""
        pause_s = _MARK_AGAIN_S
        while True:
            try:
                async with self._units.begin() as work:
                    await mark(work)
                    await work.commit()
            except StoreUnavailable as error:
                _log.warning(events.MARKING_FAILED, error=type(error).__name__)
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, _MARK_AGAIN_MOST_S)
            else:
                return


def _one_thread(items: Sequence[OutboxItem]) -> Sequence[OutboxItem]:
    """The notices from the front that go to the same thread: one message has one place."""
    return list(takewhile(lambda item: item.thread == items[0].thread, items))
