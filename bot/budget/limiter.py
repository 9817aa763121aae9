"""The library's port of the budget: the last safety, for calls that nobody asked a permit for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final

from telegram.error import RetryAfter
from telegram.ext import BaseRateLimiter

from bot.budget.limits import Budget, Chat, Permit, Wait
from bot.halts import LONGEST_MS, flooded, retry_after_ms

_Answer = bool | dict[str, Any] | list[dict[str, Any]]

Called = Callable[[str, Exception | None, float], None]
"""Is told of each call that was made: its method, what it raised if anything, and how long it took (ms)."""

_UNSEEN: Final = ("get", "answer")
_UNSEEN_TOO: Final = frozenset({"setWebhook", "deleteWebhook", "logOut", "close"})


class Limiter(BaseRateLimiter[Permit]):
    """Keeps every call of a bot within the budget, and passes on what a 429 asks for to all processes.

    A call that comes with its permit (``rate_limit_args``) goes through at once. Another one waits for its own.

    Args:
        budget: shared by all processes.
        patience_ms: what a call waits at most; past it, it fails as if Telegram had refused it.
        called: is told of each call.
    """

    def __init__(self, budget: Budget, patience_ms: int = 10_000, called: Called | None = None) -> None:
        self._budget = budget
        self._patience_ms = patience_ms
        self._called = called

    async def initialize(self) -> None:
        """Nothing to open."""

    async def shutdown(self) -> None:
        """Nothing to close."""

    async def process_request(  # noqa: PLR0917 - the port's
        self,
        callback: Callable[..., Coroutine[Any, Any, _Answer]],
        args: Any,
        kwargs: dict[str, Any],
        endpoint: str,
        data: dict[str, Any],
        rate_limit_args: Permit | None,
    ) -> _Answer:
        """Make the call once it may be made.

        Raises:
            RetryAfter: Telegram asks to wait, or the budget does for longer than this has patience.
            TelegramError: as the call.
        """
        chat, counted = _chat(data), _is_seen(endpoint)
        bound = counted or chat is not None
        if rate_limit_args is None and bound:
            await self._permitted(chat, counted=counted)
        try:
            return await self._call(endpoint, callback(*args, **kwargs))
        except RetryAfter as error:
            if bound:
                await self._budget.hold(chat, retry_after_ms(error))
            raise
        except OverflowError:
            # The library can't hold so long a pause, and raises that in the place of its own error.
            if bound:
                await self._budget.hold(chat, LONGEST_MS)
            raise flooded(LONGEST_MS) from None

    async def _call(self, endpoint: str, call: Coroutine[Any, Any, _Answer]) -> _Answer:
        begun_ns = time.perf_counter_ns()
        try:
            answer = await call
        except Exception as error:
            self._tell(endpoint, error, begun_ns)
            raise
        self._tell(endpoint, None, begun_ns)
        return answer

    def _tell(self, endpoint: str, error: Exception | None, begun_ns: int) -> None:
        if self._called is not None:
            self._called(endpoint, error, (time.perf_counter_ns() - begun_ns) / 1_000_000)

    async def _permitted(self, chat: Chat | None, *, counted: bool) -> None:
        left_ms = self._patience_ms
        while isinstance(asked := await self._budget.take(chat, counted=counted), Wait):
            if asked.wait_ms > left_ms:
                raise flooded(asked.wait_ms)
            left_ms -= asked.wait_ms
            await asyncio.sleep(asked.wait_ms / 1000)


def _is_seen(endpoint: str) -> bool:
    """Whether Telegram counts the call: looking something up costs nothing, and neither does a toast."""
    return not endpoint.startswith(_UNSEEN) and endpoint not in _UNSEEN_TOO


def _chat(data: dict[str, Any]) -> Chat | None:
    chat = data.get("chat_id")
    if isinstance(chat, str) and chat.removeprefix("-").isdecimal():
        return int(chat)
    return chat if isinstance(chat, int | str) else None
