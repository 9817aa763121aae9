"""The budget on Redis: one for all processes of a bot, by the server's clock.

All its keys share the hash tag of the bot, so they live in one slot of a cluster, and each expires by itself.

While Redis can't be reached, a process keeps to the same limits by itself: see docs/decisions.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any, Final

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from bot import events
from bot.budget.alone import LocalBudget
from bot.budget.limits import TRAVEL_MS, Chat, Limits, Permit, Wait

_LUA: Final = files("bot.budget")
_SECOND_MS: Final = 1_000 + TRAVEL_MS
_MINUTE_MS: Final = 60_000 + TRAVEL_MS
_GRANTED: Final = 1
_EVERYONE: Final = -2

_log = structlog.get_logger(__name__)


class SharedBudget:
    """``Budget`` on Redis.

    Args:
        redis: stays the caller's to close.
        bot_id: whose budget: every bot has one of its own.
        limits: how much there is.
        alone: what is kept to without Redis.
    """

    def __init__(self, redis: Redis, bot_id: int, limits: Limits, alone: LocalBudget | None = None) -> None:
        self._base = f"codemojex:{{budget:{bot_id}}}:"
        self._limits = limits
        self._alone = alone or LocalBudget(limits)
        self._reached = True
        # redis-py leaves its scripts untyped.
        self._take: Any = redis.register_script((_LUA / "take.lua").read_text(encoding="utf-8"))
        self._hold: Any = redis.register_script((_LUA / "hold.lua").read_text(encoding="utf-8"))

    async def take(self, chat: Chat | None, *, counted: bool = True) -> Permit | Wait:
        """As ``Budget.take``."""
        # What Redis could not be told of.
        held_ms = max(self._alone.held_ms(None), self._alone.held_ms(chat))
        if held_ms:
            return Wait(held_ms, everyone=not self._alone.held_ms(chat))
        try:
            code, *wait = await self._take(keys=self._keys(chat), args=self._args(chat, counted=counted))
        except (RedisError, OSError) as error:
            self._lost(error)
            return self._alone.take(chat, counted=counted)
        self._found()
        if code != _GRANTED:
            return Wait(wait[0], everyone=code == _EVERYONE)
        if counted:
            self._alone.spend(chat)
        return Permit(0 if chat is None else self._limits.gap_ms(chat))

    async def hold(self, chat: Chat | None, ms: int) -> None:
        """As ``Budget.hold``."""
        if ms <= 0:
            return
        try:
            await self._hold(keys=[self._name("hold", chat)], args=[ms])
        except (RedisError, OSError) as error:
            self._lost(error)
            self._alone.hold(chat, ms)
        else:
            self._found()

    def _name(self, kind: str, chat: Chat | None) -> str:
        return f"{self._base}{kind}" if chat is None else f"{self._base}{kind}:{chat}"

    def _keys(self, chat: Chat | None) -> list[str]:
        everybody = [self._name("calls", None), self._name("hold", None)]
        return everybody if chat is None else [*everybody, self._name("calls", chat), self._name("hold", chat)]

    def _args(self, chat: Chat | None, *, counted: bool) -> list[int]:
        gap_ms, a_minute = (0, 0) if chat is None else (self._limits.gap_ms(chat), self._limits.calls_a_minute(chat))
        gap_ms += TRAVEL_MS if gap_ms else 0
        return [int(counted), self._limits.calls_a_second, _SECOND_MS, gap_ms, a_minute, _MINUTE_MS if a_minute else 0]

    def _lost(self, error: Exception) -> None:
        if self._reached:
            _log.warning(events.BUDGET_ALONE, error=type(error).__name__)
        self._reached = False

    def _found(self) -> None:
        if not self._reached:
            _log.info(events.BUDGET_SHARED)
        self._reached = True
