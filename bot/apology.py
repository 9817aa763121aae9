"""Tells a chat, once an outage, that what it says is kept although no answer comes: the one thing a handler sends.

Its answers need SQL and lanes, and one of them is away; so this goes straight to Telegram, on the budget. That it is
over is told by the answers themselves.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import structlog
from telegram import Message
from telegram.error import TelegramError

from bot import events
from bot.budget import Wait
from bot.context import TelegramBot
from bot.handlers.incoming import place_of, request_of
from bot.texts import ENGLISH, Language
from engine.game.reading import Chatter, read_guess

_MOST_CHATS: Final = 10_000
_OVER_AFTER_MS: Final = 600_000
"""An outage in which a chat was quiet for so long is another one to it."""

_log = structlog.get_logger(__name__)


def _monotonic_ms() -> int:
    return time.monotonic_ns() // 1_000_000


@dataclass(slots=True)
class _Outage:
    """How a chat has fared in one outage."""

    began_ms: int
    seen_ms: int
    told: bool = False


class Apology:
    """Remembers, for a bounded number of chats, which were told.

    Args:
        language: the words.
        after_ms: an outage that is over by then needs no words.
        now_ms: a clock that never goes back.
    """

    def __init__(
        self, *, language: Language = ENGLISH, after_ms: int = 2_000, now_ms: Callable[[], int] = _monotonic_ms
    ) -> None:
        self._language = language
        self._after_ms = after_ms
        self._now_ms = now_ms
        self._outages: OrderedDict[tuple[int, int], _Outage] = OrderedDict()

    async def make(self, bot: TelegramBot, message: Message) -> None:
        """Tell the chat of ``message``, which could not be taken. Never raises for what Telegram answers."""
        place = place_of(message)
        outage = self._seen((place.chat_ref, place.thread))
        if outage.told or outage.seen_ms - outage.began_ms < self._after_ms or not _is_for_us(message):
            return
        outage.told = True  # before anything is awaited: the next message may fail meanwhile
        permit = await bot.budget.take(place.chat_ref)
        if isinstance(permit, Wait):
            outage.told = False
            return
        try:
            await bot.send_message(
                place.chat_ref, self._language.outage(), message_thread_id=place.thread or None, rate_limit_args=permit
            )
        except TelegramError as error:
            _log.warning(events.APOLOGY_FAILED, error=type(error).__name__)

    def _seen(self, place: tuple[int, int]) -> _Outage:
        now_ms = self._now_ms()
        outage = self._outages.pop(place, None)
        if outage is None or now_ms - outage.seen_ms > _OVER_AFTER_MS:
            outage = _Outage(now_ms, now_ms)
        outage.seen_ms = now_ms
        self._outages[place] = outage
        if len(self._outages) > _MOST_CHATS:
            self._outages.popitem(last=False)
        return outage


def _is_for_us(message: Message) -> bool:
    """Whether whoever said it waits for an answer: a command or a guess, no talk among people."""
    if message.text is None or request_of(message) is None:
        return False
    private = place_of(message).private
    plain = read_guess(message.text, None, (), explicit=message.text.startswith("/"), private=private)
    return not isinstance(plain, Chatter)
