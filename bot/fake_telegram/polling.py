"""``getUpdates``: one caller at a time; an offset confirms everything before it."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from bot.fake_telegram.calls import Call
from bot.fake_telegram.errors import conflict
from bot.fake_telegram.messages import Json
from bot.fake_telegram.pending import Pending
from bot.fake_telegram.timing import Timing

_MOST_UPDATES: Final = 100
_OTHER_POLL: Final = "terminated by other getUpdates request; make sure that only one bot instance is running"
_WEBHOOK_SET: Final = "terminated by setWebhook request"


class Polling:
    """Long polls of one bot."""

    def __init__(self, pending: Pending, timing: Timing) -> None:
        self._pending = pending
        self._timing = timing
        self._running: asyncio.Future[str] | None = None
        self._asked: tuple[int, int] = (0, -timing.same_offset_ms)

    async def get(self, call: Call) -> list[Json]:
        """Answer the updates from an offset on; waits for a first one as long as it is asked to.

        Raises:
            Refused: another poll, or a webhook, took this one's place.
        """
        limit = min(max(call.number("limit", _MOST_UPDATES), 1), _MOST_UPDATES)
        offset = call.number("offset")
        self.end(_OTHER_POLL)
        if offset < 0:
            self._pending.keep_last(-offset)
        else:
            self._pending.confirm_below(offset)
        patience_ms = self._patience_ms(call, offset)
        if not self._pending.front(1) and patience_ms:
            await self._wait(patience_ms)
        return [update.to_dict() for update in self._pending.front(limit)]

    def end(self, why: str = _WEBHOOK_SET) -> None:
        """Have the poll that waits answer 409."""
        if self._running is not None and not self._running.done():
            self._running.set_result(why)

    def _patience_ms(self, call: Call, offset: int) -> int:
        patience_ms = min(max(call.number("timeout") * 1_000, 0), self._timing.most_poll_ms)
        asked_offset, asked_ms = self._asked
        self._asked = offset, call.at_ms
        # Telegram slows down whoever asks for the same again and again.
        if offset == asked_offset and call.at_ms < asked_ms + self._timing.same_offset_ms:
            return max(patience_ms, self._timing.same_offset_ms)
        return patience_ms

    async def _wait(self, patience_ms: int) -> None:
        ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._running = ended
        news = asyncio.create_task(self._pending.news.wait())
        waited_for: set[asyncio.Future[Any]] = {news, ended}
        try:
            await asyncio.wait(waited_for, timeout=patience_ms / 1_000, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()
            if self._running is ended:
                self._running = None
        if ended.done():
            raise conflict(ended.result())
