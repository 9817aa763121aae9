"""What the bot has not confirmed yet. Polling reads it from the front; a webhook takes each update by its line."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final

from bot.fake_telegram.clock import monotonic_ms
from bot.fake_telegram.messages import Json
from bot.fake_telegram.timing import Timing

KINDS: Final = frozenset({
    "message",
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "callback_query",
    "my_chat_member",
    "chat_member",
})  # fmt: skip
UNLESS_ASKED: Final = frozenset({"chat_member"})
"""Kinds that only a bot gets that asks for them by name."""
_FIRST_ID: Final = 700_000_001

Line = tuple[str, int]
"""What Telegram keeps in order: a chat's messages, or a person's presses."""


@dataclass(slots=True, eq=False)
class Update:
    """One update, until it is confirmed or too old."""

    id: int
    kind: str
    content: Json
    line: Line
    expires_ms: int

    def to_dict(self) -> Json:
        """As the bot gets it."""
        return {"update_id": self.id, self.kind: self.content}


class Pending:
    """Unconfirmed updates, by ascending id."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._updates: OrderedDict[int, Update] = OrderedDict()
        self._next_id = _FIRST_ID
        self._watcher: Callable[[Update], None] | None = None
        self.allowed = KINDS - UNLESS_ASKED
        self.news = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()

    def __len__(self) -> int:
        return len(self._updates)

    def __contains__(self, update: object) -> bool:
        return isinstance(update, Update) and update.id in self._updates

    def add(self, kind: str, content: Json, line: Line) -> Update | None:
        """Offer an update; None where the bot did not ask for such."""
        if kind not in self.allowed:
            return None
        lasts_ms = self._timing.press_update_ms if kind == "callback_query" else self._timing.update_ms
        update = Update(self._next_id, kind, content, line, monotonic_ms() + lasts_ms)
        self._next_id += 1
        self._updates[update.id] = update
        self._empty.clear()
        self.news.set()
        if self._watcher is not None:
            self._watcher(update)
        return update

    def allow(self, kinds: Iterable[str]) -> None:
        """Offer these kinds from now on; none: all but those that must be asked for."""
        asked = frozenset(kinds)
        self.allowed = asked & KINDS if asked else KINDS - UNLESS_ASKED

    def skip_ids(self, to: int) -> None:
        """Go on with update ids from ``to``: after an idle week they begin anew somewhere."""
        self._next_id = to

    def watch(self, watcher: Callable[[Update], None] | None) -> list[Update]:
        """Tell ``watcher`` of every new one; answers those that are there."""
        self._watcher = watcher
        return list(self._updates.values())

    def confirm_below(self, offset: int) -> None:
        """Forget every update with a smaller id."""
        while self._updates and next(iter(self._updates)) < offset:
            self._updates.popitem(last=False)
        self._look()

    def keep_last(self, count: int) -> None:
        """Forget all but so many from the end."""
        while len(self._updates) > count:
            self._updates.popitem(last=False)
        self._look()

    def forget(self, update: Update) -> None:
        """It is confirmed, or too old."""
        self._updates.pop(update.id, None)
        self._look()

    def front(self, limit: int) -> list[Update]:
        """The first ``limit`` that are not too old."""
        now = monotonic_ms()
        for update in [it for it in islice(self._updates.values(), limit) if it.expires_ms <= now]:
            self.forget(update)
        return list(islice(self._updates.values(), limit))

    async def emptied(self) -> None:
        """Wait until the bot has confirmed everything."""
        await self._empty.wait()

    def _look(self) -> None:
        if not self._updates:
            self._empty.set()
            self.news.clear()
