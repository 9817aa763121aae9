"""From a Telegram message to the game's request: who, where, which message. And to nothing, where no player spoke."""

from __future__ import annotations

from typing import Final

from telegram import Chat, ChatMember, Message
from telegram.constants import ChatID, ChatMemberStatus, ChatType
from telegram.error import BadRequest, ChatMigrated, Forbidden

from bot.context import TelegramBot
from bot.names import account_name, clean
from engine.game.model import Account, Place, Source
from engine.game.request import Request

_GENERAL: Final = 1
"""A forum's own topic; it is the chat itself, and Telegram refuses it as an address."""


def request_of(message: Message) -> Request | None:
    """The request that ``message`` makes, or None where it comes from no person.

    Nobody: another bot, a channel posting into the group, a post forwarded by Telegram itself. An admin who hides
    behind the group is a request without an account.
    """
    chat, sender, author = message.chat, message.sender_chat, message.from_user
    if message.is_automatic_forward or (sender is not None and sender.id != chat.id):
        return None
    if sender is not None:
        return Request(place_of(message), None, _source(message))
    if author is None or author.is_bot or author.id in {ChatID.SERVICE_CHAT, ChatID.ANONYMOUS_ADMIN}:
        return None
    name = account_name(author.first_name, author.last_name, author.id)
    return Request(place_of(message), Account(author.id, name), _source(message))


def place_of(message: Message) -> Place:
    """The chat, and the topic inside it. A reply's thread in a chat without topics is no topic."""
    chat = message.chat
    thread = (message.message_thread_id or 0) if message.is_topic_message else 0
    return Place(
        chat_ref=chat.id,
        thread=0 if thread == _GENERAL else thread,
        title=clean(chat.title or ""),
        private=chat.type == ChatType.PRIVATE,
    )


async def is_admin(bot: TelegramBot, request: Request, chat: Chat) -> bool:
    """Whether the request's author may pull the levers of ``chat``. Asks Telegram each time: admins come and go.

    Raises:
        TelegramError: Telegram couldn't be asked; the answer is unknown.
    """
    if request.place.private or request.account is None:
        return True
    try:
        member = await _member(bot, chat.id, request.account.account_ref)
    except (BadRequest, Forbidden):
        return False
    return member.status in {ChatMemberStatus.OWNER, ChatMemberStatus.ADMINISTRATOR}


async def _member(bot: TelegramBot, chat_ref: int, account_ref: int) -> ChatMember:
    try:
        return await bot.get_chat_member(chat_ref, account_ref)
    except ChatMigrated as moved:
        return await bot.get_chat_member(moved.new_chat_id, account_ref)


def _source(message: Message) -> Source:
    return Source(message.chat.id, message.message_id)
