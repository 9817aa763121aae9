"""Speaks to chats for the delivery worker: notices in, one Telegram message out, and what became of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

import httpx
import structlog
from telegram import LinkPreviewOptions, ReplyParameters
from telegram.constants import ParseMode
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

from bot import events
from bot.budget import Permit, Wait
from bot.bundle import Bundler
from bot.context import TelegramBot
from bot.halts import retry_after_ms
from bot.texts import ENGLISH, Language
from bot.texts.markup import plain
from engine.game.ports import OutboxItem
from engine.workers.ports import Delivered, Moved, Told, TryLater, Unreachable

_UNREACHED_MS: Final = 2_000
_REFUSED_TOKEN_MS: Final = 30_000
_PATIENCE_MS: Final = 1_000
"""What a message waits for its turn among all chats while it is on its way; a claim is kept that long."""

_NEVER_LEFT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
"""What httpx raises before a byte of the request was written."""
_NO_THREAD: Final = ("thread not found", "topic_closed", "topic_deleted")
"""Parts of a 400 that say that this topic can't be spoken to."""
_NO_CHAT: Final = (
    "chat not found",
    "deactivated",
    "not enough rights",
    "have no rights",
    "chat_write_forbidden",
    "peer_id_invalid",
)
"""Parts of a 400 that say that this chat can't be spoken to."""

_log = structlog.get_logger(__name__)


class TelegramMessenger:
    """``engine.workers.ports.Messenger`` over the Bot API.

    Args:
        bot: sends, on its budget; its ``initialize`` tells whether it hears everything in groups.
        language: the words.
    """

    def __init__(self, bot: TelegramBot, *, language: Language = ENGLISH) -> None:
        self._bot = bot
        self._bundler = Bundler(language, self._hears_all)

    async def say(self, items: Sequence[OutboxItem]) -> Delivered:
        """Say notices of one chat and one thread in one message: as many from the front as fit, at least one.

        Raises:
            BadRequest: Telegram can't read the message, though the chat is there: a bug in the words of one notice.
        """
        first = items[0]
        bundle = self._bundler.bundle(items)
        permit = await self._permit(first.chat_ref)
        if isinstance(permit, Wait):
            return TryLater(permit.wait_ms, "budget")
        told = Told(bundle.count, permit.rest_ms)
        try:
            await self._send(first, bundle.text, ParseMode.HTML, bundle.reply_to, permit)
        except BadRequest as error:
            if not _is_markup(error):
                return _refused(error)
            _log.error(events.MARKUP_REFUSED, notice=first.id, chat=first.chat, reason=error.message)
            return await self._say_plainly(first, bundle.text, bundle.reply_to, told)
        except TelegramError as error:
            return self._failed(first, error, told)
        return told

    async def _permit(self, chat_ref: int) -> Permit | Wait:
        """Ask for one message. A chat that had its own is not waited for: what it is owed meanwhile goes along."""
        left_ms = _PATIENCE_MS
        while True:
            asked = await self._bot.budget.take(chat_ref)
            if isinstance(asked, Permit) or not asked.everyone or asked.wait_ms > left_ms:
                return asked
            left_ms -= asked.wait_ms
            await asyncio.sleep(asked.wait_ms / 1000)

    async def _say_plainly(self, first: OutboxItem, text: str, reply_to: int | None, told: Told) -> Delivered:
        try:
            await self._send(first, plain(text), None, reply_to, None)
        except BadRequest as error:
            return _refused(error)
        except TelegramError as error:
            return self._failed(first, error, told)
        return told

    async def _send(
        self, item: OutboxItem, text: str, parse_mode: str | None, reply_to: int | None, permit: Permit | None
    ) -> None:
        await self._bot.send_message(
            item.chat_ref,
            text,
            parse_mode=parse_mode,
            # 1 is a forum's own topic, which Telegram refuses as an address.
            message_thread_id=item.thread if item.thread > 1 else None,
            reply_parameters=ReplyParameters(reply_to, allow_sending_without_reply=True) if reply_to else None,
            link_preview_options=LinkPreviewOptions(is_disabled=True),
            rate_limit_args=permit,
        )

    def _failed(self, item: OutboxItem, error: TelegramError, told: Told) -> Delivered:
        if isinstance(error, RetryAfter):
            return TryLater(retry_after_ms(error), "429")
        if isinstance(error, Forbidden):
            return Unreachable(error.message)
        if isinstance(error, ChatMigrated):
            return Moved(error.new_chat_id)
        if isinstance(error, InvalidToken):
            return TryLater(_REFUSED_TOKEN_MS, "Telegram doesn't know the token")
        if _was_never_read(error):
            return TryLater(_UNREACHED_MS, type(error.__cause__ or error).__name__)
        _log.warning(
            events.SEND_UNCERTAIN, notice=item.id, chat=item.chat, error=type(error.__cause__ or error).__name__
        )
        return told

    def _hears_all(self) -> bool:
        try:
            return bool(self._bot.can_read_all_group_messages)
        except RuntimeError:  # not initialized: nobody has asked Telegram yet
            return True


def _refused(error: BadRequest) -> Unreachable:
    reason = error.message.lower()
    if any(part in reason for part in _NO_THREAD):
        return Unreachable(error.message, whole_chat=False)
    if any(part in reason for part in _NO_CHAT):
        return Unreachable(error.message)
    raise error


def _is_markup(error: BadRequest) -> bool:
    return "parse entities" in error.message.lower()


def _was_never_read(error: TelegramError) -> bool:
    """Whether Telegram certainly didn't act on the request: it was never reached, or it answered an error."""
    cause = error.__cause__
    if isinstance(cause, (*_NEVER_LEFT, RuntimeError)):  # a transport that is shut down raises a RuntimeError
        return True
    if not isinstance(error, NetworkError) or isinstance(error, TimedOut):
        return False
    # An answer that is no JSON has a parse error as its cause. A gateway that gave up waiting knows nothing.
    return (cause is None or isinstance(cause, TelegramError)) and "gateway time" not in error.message.lower()
