"""Speaks to chats for the delivery worker: notices in, one Telegram message out, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Final

import httpx
import structlog
from telegram import LinkPreviewOptions, ReplyParameters
from telegram.constants import MessageLimit, ParseMode
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
from bot.context import TelegramBot
from bot.flood import retry_after_ms
from bot.texts import ENGLISH, Language, Scene, is_big, word
from bot.texts.markup import entities, plain, units
from engine.game.notices import Board, Notice, PageShown, Refused
from engine.game.ports import OutboxItem
from engine.workers.ports import Delivered, Told, TryLater, Unreachable

_LONGEST: Final = MessageLimit.MAX_TEXT_LENGTH
_MOST_ENTITIES: Final = MessageLimit.MESSAGE_ENTITIES
_UNREACHED_MS: Final = 2_000
_MIGRATED_MS: Final = 60_000
_REFUSED_TOKEN_MS: Final = 30_000
_SUPERGROUPS: Final = -1_000_000_000_000
"""A supergroup's id is this minus the number in its messages' addresses."""

_NEVER_LEFT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
"""What httpx raises before a byte of the request was written."""
_GONE: Final = (
    "chat not found",
    "thread not found",
    "topic_closed",
    "topic_deleted",
    "deactivated",
    "not enough rights",
    "have no rights",
    "chat_write_forbidden",
    "peer_id_invalid",
)
"""Parts of a 400 that say that this chat or topic can't be spoken to."""

_log = structlog.get_logger(__name__)


class TelegramMessenger:
    """``engine.workers.ports.Messenger`` over the Bot API.

    Args:
        bot: sends; its ``initialize`` tells whether it hears everything in groups.
        language: the words.
        private_cooldown_ms: pause after a message to a private chat (Telegram's budget: one a second).
        group_cooldown_ms: pause after a message to a group (20 a minute).
    """

    def __init__(
        self,
        bot: TelegramBot,
        *,
        language: Language = ENGLISH,
        private_cooldown_ms: int = 1_000,
        group_cooldown_ms: int = 3_000,
    ) -> None:
        self._bot = bot
        self._language = language
        self._private_cooldown_ms = private_cooldown_ms
        self._group_cooldown_ms = group_cooldown_ms

    async def say(self, items: Sequence[OutboxItem]) -> Delivered:
        """Say notices of one chat and one thread in one message: as many from the front as fit, at least one.

        Raises:
            BadRequest: Telegram can't read the message, though the chat is there: a bug in the words of one notice.
        """
        again = _said_again(items)
        first = items[again - 1]
        text, count = self._bundle(items[again - 1 :])
        told = Told(count + again - 1, self._private_cooldown_ms if first.private else self._group_cooldown_ms)
        reply_to = first.reply_to if count == 1 else None
        try:
            await self._send(first, text, ParseMode.HTML, reply_to)
        except BadRequest as error:
            if not _is_markup(error):
                return _refused(error)
            _log.error(events.MARKUP_REFUSED, notice=first.id, chat=first.chat, reason=error.message)
            return await self._say_plainly(first, text, reply_to, told)
        except TelegramError as error:
            return self._failed(first, error, told)
        return told

    async def _say_plainly(self, first: OutboxItem, text: str, reply_to: int | None, told: Told) -> Delivered:
        try:
            await self._send(first, plain(text), None, reply_to)
        except BadRequest as error:
            return _refused(error)
        except TelegramError as error:
            return self._failed(first, error, told)
        return told

    async def _send(self, item: OutboxItem, text: str, parse_mode: str | None, reply_to: int | None) -> None:
        await self._bot.send_message(
            item.chat_ref,
            text,
            parse_mode=parse_mode,
            # 1 is a forum's own topic, which Telegram refuses as an address.
            message_thread_id=item.thread if item.thread > 1 else None,
            reply_parameters=ReplyParameters(reply_to, allow_sending_without_reply=True) if reply_to else None,
            link_preview_options=LinkPreviewOptions(is_disabled=True),
        )

    def _failed(self, item: OutboxItem, error: TelegramError, told: Told) -> Delivered:
        if isinstance(error, RetryAfter):
            return TryLater(retry_after_ms(error), "429")
        if isinstance(error, Forbidden):
            return Unreachable(error.message)
        if isinstance(error, ChatMigrated):
            # The rows stay: whoever moves the room to its new chat moves them along.
            return TryLater(_MIGRATED_MS, "the group became a supergroup")
        if isinstance(error, InvalidToken):
            return TryLater(_REFUSED_TOKEN_MS, "Telegram doesn't know the token")
        if _was_never_read(error):
            return TryLater(_UNREACHED_MS, type(error.__cause__ or error).__name__)
        _log.warning(
            events.SEND_UNCERTAIN, notice=item.id, chat=item.chat, error=type(error.__cause__ or error).__name__
        )
        return told

    def _bundle(self, items: Sequence[OutboxItem]) -> tuple[str, int]:
        """The text of the longest run from the front that one message holds, and how many it is.

        A big notice stands alone.
        """
        first = items[0]
        text = self._word(first, among_others=False)
        if len(items) == 1 or is_big(first.notice):
            return text, 1
        lines: list[str] = []
        length = marks = 0
        for item in items:
            line = self._word(item, among_others=True)
            length += units(line) + 1
            marks += entities(line)
            if is_big(item.notice) or length - 1 > _LONGEST or marks > _MOST_ENTITIES:
                break
            lines.append(line)
        return ("\n".join(lines), len(lines)) if len(lines) > 1 else (text, 1)

    def _word(self, item: OutboxItem, *, among_others: bool) -> str:
        scene = Scene(item.private, self._hears_all(), item.names)
        line = word(item.notice, scene, self._language)
        if among_others and isinstance(item.notice, Refused) and item.notice.player is not None:
            return self._language.whose(line, scene.name(item.notice.player), _message_url(item))
        return line

    def _hears_all(self) -> bool:
        try:
            return bool(self._bot.can_read_all_group_messages)
        except RuntimeError:  # not initialized: nobody has asked Telegram yet
            return True


def _said_again(items: Sequence[OutboxItem]) -> int:
    """How many notices from the front the last of them says as well: of boards asked for at once, one is enough."""
    first = items[0].notice
    if not isinstance(first, Board | PageShown):
        return 1
    return len(list(takewhile(lambda item: _replaces(item.notice, first), items)))


def _replaces(later: Notice, earlier: Board | PageShown) -> bool:
    if isinstance(later, Board) and isinstance(earlier, Board):
        return later.number == earlier.number
    return later == earlier


def _message_url(item: OutboxItem) -> str | None:
    """Where the message that ``item`` answers can be seen; only messages of supergroups have an address."""
    if item.reply_to is None or item.chat_ref > _SUPERGROUPS:
        return None
    return f"https://t.me/c/{_SUPERGROUPS - item.chat_ref}/{item.reply_to}"


def _refused(error: BadRequest) -> Unreachable:
    if any(part in error.message.lower() for part in _GONE):
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
