"""Updates in work: one chat's in order, chats side by side, each until it has a receipt.

An update that fails is tried again, with its chat waiting behind it, until it has a receipt or was set aside
(``bot.taking``).
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Final

from bot.taking import Outcome, Taking, chat_of

WINDOW: Final = 100
"""Updates that Telegram shows past the confirmed ones."""


class Serving:
    """The updates that Telegram has shown and that are not confirmed yet.

    Args:
        taking: takes them.
    """

    def __init__(self, taking: Taking) -> None:
        self._taking = taking
        self._pace = taking.pace
        self._known: set[int] = set()
        self._open: set[int] = set()
        self._offset: int | None = None
        self._waiting: dict[int, deque[dict[str, Any]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._places = asyncio.Semaphore(self._pace.at_once)
        self._ending = asyncio.Event()

    def offer(self, raw: dict[str, Any]) -> None:
        """Put an update, as Telegram sent it, in work; one that is in work already, or done, is passed over.

        A number below the offset says nothing: after a week without updates Telegram goes on at any number, and shows
        what there is to whoever asks from far ahead. One that comes again after that is known by its message.
        """
        update_id = int(raw["update_id"])
        if update_id in self._known:
            return
        self._known.add(update_id)
        self._open.add(update_id)
        self._queue(raw)

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

    def _queue(self, raw: dict[str, Any]) -> None:
        chat = chat_of(raw)
        if chat in self._waiting:
            self._waiting[chat].append(raw)
            return
        self._waiting[chat] = deque([raw])
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

    async def _take(self, raw: dict[str, Any]) -> bool:
        """Try one update until it has a receipt or is set aside; False where the end came first."""
        failures = 0
        while True:
            async with self._places:
                outcome = await self._taking.take(raw)
            if outcome is not Outcome.NOT_YET:
                self._open.discard(int(raw["update_id"]))
                return True
            failures += 1
            try:
                async with asyncio.timeout(self._pace.pause_ms(failures) / 1000):
                    await self._ending.wait()
            except TimeoutError:
                continue
            return False
