"""Updates in work: one chat's in order, chats side by side, each until it has a receipt.

An update that fails is tried again, with its chat waiting behind it: without end while a server is away
(``bot.outages``), else a few times; then it is set aside with its error logged, and never stops those behind it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Final

import structlog
from telegram import Update

from bot import events
from bot.context import GameApplication
from bot.outages import is_outage
from bot.pace import Pace
from bot.receipts import Slip, process

WINDOW: Final = 100
"""Updates that Telegram shows past the confirmed ones."""

_log = structlog.get_logger(__name__)


class UpdateTookTooLong(Exception):  # noqa: N818 - reads as what happened
    """A handler didn't end in time, though no server said that it is away."""


class Serving:
    """The updates that Telegram has shown and that are not confirmed yet.

    Args:
        application: takes them; it is initialized.
        pace: how patient to be.
    """

    def __init__(self, application: GameApplication, pace: Pace) -> None:
        self._application = application
        self._pace = pace
        self._known: set[int] = set()
        self._open: set[int] = set()
        self._offset: int | None = None
        self._waiting: dict[int, deque[Update]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._places = asyncio.Semaphore(pace.at_once)
        self._ending = asyncio.Event()

    def offer(self, raw: dict[str, Any]) -> None:
        """Put an update, as Telegram sent it, in work; one that is in work already, or done, is passed over."""
        update_id = int(raw["update_id"])
        if update_id in self._known or (self._offset is not None and update_id < self._offset):
            return
        self._known.add(update_id)
        self._open.add(update_id)
        try:
            update = Update.de_json(raw, self._application.bot)
        except Exception as error:  # noqa: BLE001 - what the library can't read must not stop those behind it
            self._set_aside(update_id, error, attempts=1)
        else:
            self._queue(update)

    @property
    def full(self) -> bool:
        """Whether Telegram would show nothing new: it shows no more than so many past the confirmed ones."""
        return len(self._known) >= WINDOW

    @property
    def idle(self) -> bool:
        """Whether every update has its receipt, or was set aside."""
        return not self._open

    async def settle(self, timeout_ms: int) -> None:
        """Return once nothing is in work, or after ``timeout_ms``."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=timeout_ms / 1000)

    def confirmable(self) -> int | None:
        """The offset that confirms every update up to the first without a receipt; None before a first one."""
        if self._known:
            self._offset = min(self._open) if self._open else max(self._known) + 1
            self._known = {update_id for update_id in self._known if update_id >= self._offset}
        return self._offset

    async def end(self) -> None:
        """Finish what is in work; what fails now is not tried again, and stays unconfirmed with its chat behind it."""
        self._ending.set()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _queue(self, update: Update) -> None:
        chat = update.effective_chat.id if update.effective_chat else 0
        if chat in self._waiting:
            self._waiting[chat].append(update)
            return
        self._waiting[chat] = deque([update])
        task = asyncio.create_task(self._serve(chat), name=f"updates of chat {chat}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, chat: int) -> None:
        """Take one chat's updates in order until none waits."""
        waiting = self._waiting[chat]
        try:
            while waiting and await self._take(waiting[0]):
                waiting.popleft()
        finally:
            del self._waiting[chat]

    async def _take(self, update: Update) -> bool:
        """Try one update until it has a receipt or is set aside; False where the end came first."""
        failures = own = 0
        while True:
            async with self._places:
                slip = await self._try(update)
            if slip.receipt is not None:
                self._open.discard(update.update_id)
                return True
            failures += 1
            own += not is_outage(slip.error)
            if own >= self._pace.attempts:
                self._set_aside(update.update_id, slip.error, attempts=failures)
                return True
            try:
                async with asyncio.timeout(self._pace.pause_ms(failures) / 1000):
                    await self._ending.wait()
            except TimeoutError:
                continue
            return False

    async def _try(self, update: Update) -> Slip:
        slow = UpdateTookTooLong(f"update {update.update_id} took over {self._pace.update_ms} ms")
        try:
            async with asyncio.timeout(self._pace.update_ms / 1000):
                return await process(self._application, update)
        except TimeoutError:
            return Slip(error=slow)
        except Exception as error:  # noqa: BLE001 - the library itself failed: no receipt, like any other failure
            return Slip(error=error)

    def _set_aside(self, update_id: int, error: BaseException | None, *, attempts: int) -> None:
        _log.error(events.UPDATE_SET_ASIDE, update_id=update_id, attempts=attempts, exc_info=error)
        self._open.discard(update_id)
