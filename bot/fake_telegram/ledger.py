"""Everything that the bot made chats show, and every call as it was answered."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bot.fake_telegram.calls import Call
from bot.fake_telegram.clock import monotonic_ms, wall_ms
from bot.fake_telegram.messages import Message
from bot.fake_telegram.world import Chat, ChatId

_MOST_CALLS: Final = 100_000


class Shown(StrEnum):
    """What happened in a chat."""

    SENT = "sent"
    EDITED = "edited"
    DELETED = "deleted"
    TOAST = "toast"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that a chat showed; ``text`` as people read it, ``call`` as the bot asked for it."""

    shown: Shown
    chat_id: ChatId
    message_id: int
    text: str
    reply_to: int | None
    thread: int
    at_ms: int
    """Monotonic."""
    wall_ms: int
    call: Call


@dataclass(frozen=True, slots=True)
class Answered:
    """A call and the code of its answer, whether or not that arrived; 0 where the call was cut off unread."""

    call: Call
    status: int
    description: str
    took_ms: int


class Ledger:
    """Grows by what the bot shows; of calls it keeps the last hundred thousand, and counts of all."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.calls: deque[Answered] = deque(maxlen=_MOST_CALLS)
        self.counts: Counter[tuple[str, int]] = Counter()

    def show(self, shown: Shown, message: Message, call: Call, text: str | None = None) -> Entry:
        """Note what ``message`` shows now, or ``text`` in its place."""
        entry = Entry(
            shown,
            message.chat.id,
            message.id,
            message.text if text is None else text,
            message.reply_to.id if message.reply_to is not None else None,
            message.thread,
            monotonic_ms(),
            wall_ms(),
            call,
        )
        self.entries.append(entry)
        return entry

    def answered(self, call: Call, status: int, description: str = "") -> None:
        """Note how a call ended."""
        self.calls.append(Answered(call, status, description, monotonic_ms() - call.at_ms))
        self.counts[call.method.lower(), status] += 1

    def count(self, method: str, status: int | None = None) -> int:
        """How often ``method`` was answered; with ``status``: with that code."""
        return sum(
            count
            for (name, code), count in self.counts.items()
            if name == method.lower() and (status is None or code == status)
        )

    def of(self, chat: Chat, *shown: Shown) -> Iterator[Entry]:
        """What ``chat`` showed, of these kinds; none: of all."""
        return (it for it in self.entries if it.chat_id == chat.id and (not shown or it.shown in shown))

    def texts(self, chat: Chat | None = None) -> list[str]:
        """The texts that were sent; with ``chat``: to it."""
        return [it.text for it in self.entries if it.shown is Shown.SENT and (chat is None or it.chat_id == chat.id)]

    def busiest(self, chat: Chat, window_ms: int = 60_000) -> int:
        """Most messages and edits that ``chat`` showed in any such window."""
        times = [it.at_ms for it in self.of(chat, Shown.SENT, Shown.EDITED)]
        return max((at + 1 - bisect_left(times, ms - window_ms + 1) for at, ms in enumerate(times)), default=0)
