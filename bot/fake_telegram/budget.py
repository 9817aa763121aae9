"""Telegram's budget: how much may be shown to one chat and to all, and what a 429 holds."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Final

from bot.fake_telegram.world import Chat, ChatId, ChatKind

EVERYWHERE: Final = ChatId(0)


@dataclass(frozen=True, slots=True)
class Limit:
    """So many calls in any ``window_ms``, give or take ``slack_ms`` for what the network moves."""

    most: int
    window_ms: int
    slack_ms: int = 200


@dataclass(frozen=True, slots=True)
class Limits:
    """What Telegram bears; None: anything."""

    private: Limit | None = Limit(3, 3_000)
    """One a second, and bursts of three."""
    group: Limit | None = Limit(20, 60_000)
    everywhere: Limit | None = Limit(30, 1_000)
    grace_ms: int = 50
    """Calls that were sent as a 429 was on its way, or end a halt by so little early, are nobody's fault."""


NO_LIMITS: Final = Limits(None, None, None)
"""For load tests."""


@dataclass(frozen=True, slots=True)
class Halt:
    """A chat that is to be left alone, from when to when (monotonic ms)."""

    began_ms: int
    until_ms: int


@dataclass(frozen=True, slots=True)
class Excess:
    """A call too much: which limit it passed, and when it would have fitted (monotonic ms)."""

    limit: Limit
    free_ms: int
    everywhere: bool


@dataclass(slots=True)
class Budget:
    """Counts the visible calls of one bot."""

    limits: Limits
    _halts: dict[ChatId, Halt] = field(default_factory=dict)
    _shown: defaultdict[ChatId, deque[int]] = field(default_factory=lambda: defaultdict(deque))

    def halt(self, chat: Chat, now_ms: int, retry_after_s: int) -> None:
        """A 429 about ``chat`` is answered."""
        self._halts[chat.id] = Halt(now_ms, now_ms + retry_after_s * 1_000)

    def halted(self, chat: Chat, now_ms: int) -> Halt | None:
        """The halt that runs for ``chat``."""
        halt = self._halts.get(chat.id)
        if halt is not None and halt.until_ms <= now_ms:
            del self._halts[chat.id]
            return None
        return halt

    def is_fault(self, halt: Halt, now_ms: int) -> bool:
        """Whether whoever calls in the midst of ``halt`` should have known."""
        grace_ms = self.limits.grace_ms
        return halt.began_ms + grace_ms <= now_ms < halt.until_ms - grace_ms

    def spend(self, chat: Chat, now_ms: int) -> Excess | None:
        """Count one visible call; one that is too much is not counted."""
        own = self.limits.private if chat.kind is ChatKind.PRIVATE else self.limits.group
        for chat_id, limit in ((chat.id, own), (EVERYWHERE, self.limits.everywhere)):
            excess = self._excess(chat_id, limit, now_ms)
            if excess is not None:
                return excess
        for chat_id, limit in ((chat.id, own), (EVERYWHERE, self.limits.everywhere)):
            if limit is not None:
                self._shown[chat_id].append(now_ms)
        return None

    def _excess(self, chat_id: ChatId, limit: Limit | None, now_ms: int) -> Excess | None:
        if limit is None:
            return None
        shown = self._shown[chat_id]
        lasts_ms = max(limit.window_ms - limit.slack_ms, 0)
        while shown and shown[0] <= now_ms - lasts_ms:
            shown.popleft()
        if len(shown) < limit.most:
            return None
        return Excess(limit, shown[0] + limit.window_ms, chat_id == EVERYWHERE)
