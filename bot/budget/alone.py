"""The budget as one process keeps it by itself, while Redis can't be reached."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Final, TypeVar

from bot.budget.limits import TRAVEL_MS, Chat, Limits, Permit, Wait

_K = TypeVar("_K")
_V = TypeVar("_V")

_MOST_CHATS: Final = 10_000
_SECOND_MS: Final = 1_000
_MINUTE_MS: Final = 60_000


def _monotonic_ms() -> int:
    return time.monotonic_ns() // 1_000_000


class LocalBudget:
    """The same limits, of this process's calls only. ``now_ms`` is a clock that never goes back."""

    def __init__(self, limits: Limits, now_ms: Callable[[], int] = _monotonic_ms) -> None:
        self._limits = limits
        self._now_ms = now_ms
        self._all: deque[int] = deque(maxlen=max(1, limits.calls_a_second))
        self._chats: OrderedDict[Chat, deque[int]] = OrderedDict()
        self._holds: OrderedDict[Chat | None, int] = OrderedDict()

    def take(self, chat: Chat | None, *, counted: bool = True) -> Permit | Wait:
        """As ``Budget.take``."""
        chat_ms = self.held_ms(chat) if chat is not None else 0
        all_ms = self.held_ms(None)
        if counted:
            all_ms = max(all_ms, self._left_ms(self._all, self._limits.calls_a_second, _SECOND_MS))
            chat_ms = max(chat_ms, self._busy_ms(chat))
        if chat_ms > 0 or all_ms > 0:
            return Wait(max(chat_ms, all_ms), everyone=chat_ms <= 0)
        if counted:
            self.spend(chat)
        return Permit(0 if chat is None else self._limits.gap_ms(chat))

    def spend(self, chat: Chat | None) -> None:
        """Note a call."""
        now_ms = self._now_ms()
        self._all.append(now_ms)
        if chat is None:
            return
        calls = self._chats.pop(chat, None) or deque(maxlen=max(1, self._limits.calls_a_minute(chat)))
        calls.append(now_ms)
        _remember(self._chats, chat, calls)

    def hold(self, chat: Chat | None, ms: int) -> None:
        """As ``Budget.hold``."""
        _remember(self._holds, chat, max(self._holds.pop(chat, 0), self._now_ms() + ms))

    def held_ms(self, chat: Chat | None) -> int:
        """For how long ``chat`` is still left alone."""
        until_ms = self._holds.get(chat)
        if until_ms is None:
            return 0
        left_ms = until_ms - self._now_ms()
        if left_ms <= 0:
            del self._holds[chat]
        return max(0, left_ms)

    def _busy_ms(self, chat: Chat | None) -> int:
        calls = self._chats.get(chat) if chat is not None else None
        if chat is None or calls is None:
            return 0
        gap_ms, a_minute = self._limits.gap_ms(chat), self._limits.calls_a_minute(chat)
        return max(self._left_ms(calls, 1, gap_ms), self._left_ms(calls, a_minute, _MINUTE_MS))

    def _left_ms(self, calls: deque[int], most: int, window_ms: int) -> int:
        if not most or not window_ms or len(calls) < most:
            return 0
        return max(0, calls[-most] + window_ms + TRAVEL_MS - self._now_ms())


def _remember(known: OrderedDict[_K, _V], key: _K, value: _V) -> None:
    """Note the newest; where they are too many, the oldest is forgotten."""
    known[key] = value
    if len(known) > _MOST_CHATS:
        known.popitem(last=False)
