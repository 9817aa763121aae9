"""The delivery worker: one chat's notices are claimed together, said in one message, marked sent, and the chat cools.

``claim_group`` keeps a chat off the ring while its notices are in flight, so one worker at a time speaks for a chat
and its notices stay in order. Whoever runs this keeps the leases of what was claimed, however long saying it takes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final, assert_never

import structlog

from engine.game.chats import SILENT, Chats
from engine.game.ports import OutboxItem, UnitOfWork, Units
from engine.ids import NoticeId
from engine.lanes import Job, Lanes
from engine.store.errors import StatementRefused, StoreUnavailable
from engine.workers import events
from engine.workers.ports import Delivered, Messenger, Moved, Told, TryLater, Unreachable

_MARK_AGAIN_S: Final = 0.2
_MARK_AGAIN_MOST_S: Final = 5.0

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Unsayable:
    """A notice that can't be put into words: a bug, and no fault of its chat."""

    reason: str


class SpeakWorker:
    """Handles one chat's claimed notices.

    Args:
        lanes: the queue of notices.
        units: where the outbox is.
        chats: told of chats that moved or are gone.
        messenger: says notices.
        now_ms: the wall clock.
    """

    def __init__(
        self, lanes: Lanes, units: Units, chats: Chats, messenger: Messenger, now_ms: Callable[[], int]
    ) -> None:
        self._lanes = lanes
        self._units = units
        self._chats = chats
        self._messenger = messenger
        self._now_ms = now_ms

    async def handle(self, jobs: list[Job]) -> None:
        """Say as much of what was claimed as one message holds; the rest goes back to its place."""
        async with self._units.read() as work:
            items = await work.outbox.load([NoticeId(job.id) for job in jobs])
        unsaid = {item.id for item in items}
        said_before = [job for job in jobs if job.id not in unsaid]
        if said_before:
            await self._lanes.complete(said_before)
        if not items:
            return
        claimed = [job for job in jobs if job.id in unsaid]
        if items[0].away:
            await self._drop(claimed, items, SILENT)
        else:
            await self._say(claimed, _one_thread(items))

    async def _say(self, jobs: Sequence[Job], items: Sequence[OutboxItem]) -> None:
        delivered, tried = await self._deliver(items)
        match delivered:
            case Told(count, cooldown_ms):
                said = tried[:count]
                await self._mark(lambda work: work.outbox.sent(_ids(said), self._now_ms()))
                _log.info(events.SAID, chat=items[0].chat, count=count)
                await self._settle(jobs, said, cooldown_ms)
            case TryLater():
                await self._put_off(jobs, delivered)
            case Moved(chat_ref):
                _log.info(events.MOVED, chat=items[0].chat)
                await self._chats.moved(items[0].chat_ref, chat_ref)
                await self._lanes.release(jobs)
            case Unreachable(reason, whole_chat):
                await self._chats.left(items[0].chat_ref, None if whole_chat else items[0].thread)
                await self._drop(jobs, tried, reason)
            case _Unsayable(reason):
                await self._drop(jobs, tried, reason)
            case _:
                assert_never(delivered)

    async def _deliver(self, items: Sequence[OutboxItem]) -> tuple[Delivered | _Unsayable, Sequence[OutboxItem]]:
        """Say ``items``; where one can't be put into words, the first is tried alone, then dropped."""
        try:
            return await self._messenger.say(items), items
        except Exception as error:  # noqa: BLE001 - a notice that is a bug must hurt only itself
            _log.exception(events.POISONED, chat=items[0].chat, notice=items[0].id, count=len(items))
            if len(items) > 1:
                return await self._deliver(items[:1])
            return _Unsayable(f"can't be said: {type(error).__name__}"), items

    async def _drop(self, jobs: Sequence[Job], items: Sequence[OutboxItem], reason: str) -> None:
        await self._mark(lambda work: work.outbox.drop(_ids(items), reason, self._now_ms()))
        _log.warning(events.DROPPED, chat=items[0].chat, count=len(items), reason=reason)
        await self._settle(jobs, items)

    async def _settle(self, jobs: Sequence[Job], over: Sequence[OutboxItem], cooldown_ms: int = 0) -> None:
        settled = set(_ids(over))
        left = [job for job in jobs if job.id not in settled]
        if left:
            await self._lanes.release(left)
        await self._lanes.complete([job for job in jobs if job.id in settled], cooldown_ms=cooldown_ms)

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
            except (StoreUnavailable, StatementRefused) as error:  # the latter: a right that an operator took away
                _log.warning(events.MARKING_FAILED, error=type(error).__name__)
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, _MARK_AGAIN_MOST_S)
            else:
                return


def _ids(items: Sequence[OutboxItem]) -> list[NoticeId]:
    return [item.id for item in items]


def _one_thread(items: Sequence[OutboxItem]) -> Sequence[OutboxItem]:
    """The notices from the front that go to the same thread: one message has one place."""
    return list(takewhile(lambda item: item.thread == items[0].thread, items))
