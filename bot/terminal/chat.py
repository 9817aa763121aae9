"""The chat itself: who is in it, what was said, and what the bot has not heard yet."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from bot.entities import commands
from bot.terminal.markup import Span, plain
from bot.terminal.people import Person, chat_ref

_EPOCH_S: Final = 1_704_067_200  # 2024-01-01T00:00:00Z


@dataclass(frozen=True, slots=True)
class Said:
    """A message as the chat shows it."""

    id: int
    author: Person
    by_bot: bool
    spans: tuple[Span, ...]
    reply_to: int | None = None

    @property
    def text(self) -> str:
        """Its words without their looks."""
        return plain(self.spans)


class ClockIds:
    """Message ids that ascend and that no later run repeats: milliseconds since 2024, or the next free one.

    Args:
        now_s: the wall clock.
    """

    def __init__(self, now_s: Callable[[], float] = time.time) -> None:
        self._now_s = now_s
        self._last = 0

    def next(self) -> int:
        """An id that was not given before."""
        self._last = max(self._last + 1, int((self._now_s() - _EPOCH_S) * 1_000))
        return self._last


class Updates:
    """What the bot has not confirmed yet, as Telegram keeps it: an offset confirms everything before it."""

    def __init__(self, first_id: int = 1) -> None:
        self._next_id = first_id
        self._unconfirmed: deque[dict[str, Any]] = deque()
        self._news = asyncio.Event()
        self._confirmed = asyncio.Event()
        self._confirmed.set()

    def add(self, kind: str, content: dict[str, Any]) -> None:
        """Queue an update of ``kind``."""
        self._unconfirmed.append({"update_id": self._next_id, kind: content})
        self._next_id += 1
        self._confirmed.clear()
        self._news.set()

    async def get(self, offset: int, limit: int, timeout_s: float) -> list[dict[str, Any]]:
        """The first ``limit`` unconfirmed updates; waits up to ``timeout_s`` for one.

        Args:
            offset: confirms every update before it; a negative one keeps that many from the end.
            limit: most updates to answer.
            timeout_s: how long to wait for a first one.
        """
        if offset < 0:
            offset = self._next_id + offset
        while self._unconfirmed and self._unconfirmed[0]["update_id"] < offset:
            self._unconfirmed.popleft()
        if not self._unconfirmed:
            self._confirmed.set()
            self._news.clear()
            try:
                async with asyncio.timeout(timeout_s):
                    await self._news.wait()
            except TimeoutError:
                return []
        return [self._unconfirmed[at] for at in range(min(limit, len(self._unconfirmed)))]

    async def confirmed(self) -> None:
        """Wait until the bot has confirmed everything."""
        await self._confirmed.wait()


class GroupChat:
    """One group chat.

    Args:
        name: its title; its number follows from it.
        admin: its owner.
        bot: who the bot is.
        ids: numbers for messages that come without one.
    """

    def __init__(self, name: str, admin: Person, bot: Person, ids: ClockIds) -> None:
        self.name = name
        self.ref = chat_ref(name)
        self.admin = admin
        self.bot = bot
        self.updates = Updates()
        self._ids = ids
        self._watchers: list[Callable[[Said], None]] = []

    def watch(self, watcher: Callable[[Said], None]) -> None:
        """Call ``watcher`` with everything the chat shows from now on."""
        self._watchers.append(watcher)

    def post(self, person: Person, text: str, message_id: int | None = None) -> int:
        """Say ``text`` as ``person``: the chat shows it, and the bot will hear it. Answers the message's id."""
        message_id = self._ids.next() if message_id is None else message_id
        self._show(Said(message_id, person, by_bot=False, spans=(Span(text),)))
        message = {
            **self.message(message_id, person, by_bot=False),
            "text": text,
            "entities": [it.to_dict() for it in commands(text)],
        }
        self.updates.add("message", message)
        return message_id

    def say(self, spans: Iterable[Span], reply_to: int | None) -> int:
        """Say something as the bot. Answers the message's id."""
        message_id = self._ids.next()
        self._show(Said(message_id, self.bot, by_bot=True, spans=tuple(spans), reply_to=reply_to))
        return message_id

    def message(self, message_id: int, author: Person, *, by_bot: bool) -> dict[str, Any]:
        """The envelope of a message, in the Bot API's words."""
        return {
            "message_id": message_id,
            "date": int(time.time()),
            "chat": {"id": self.ref, "type": "supergroup", "title": self.name},
            "from": account(author, is_bot=by_bot),
        }

    def _show(self, said: Said) -> None:
        for watcher in self._watchers:
            watcher(said)


def account(person: Person, *, is_bot: bool = False) -> dict[str, Any]:
    """A person in the Bot API's words."""
    return {"id": person.account_ref, "is_bot": is_bot, "first_name": person.name}
