"""What becomes of chats: a group that is a supergroup now, a bot that was sent away or let in, a reopened topic."""

from __future__ import annotations

from typing import Final

from telegram import ChatMember, ChatMemberRestricted, Update
from telegram.constants import ChatMemberStatus

from bot.context import Context
from bot.handlers.incoming import place_of
from bot.receipts import leave
from engine.game.request import Receipt

_OUT: Final = frozenset({ChatMemberStatus.LEFT, ChatMemberStatus.BANNED})


async def migrated(update: Update, context: Context) -> None:
    """Follow a group to its supergroup. Telegram says so twice: in the old chat and in the new one."""
    message = update.message
    chats = context.game.chats
    if message is not None and message.migrate_to_chat_id is not None:
        await chats.moved(message.chat.id, message.migrate_to_chat_id)
    elif message is not None and message.migrate_from_chat_id is not None:
        await chats.moved(message.migrate_from_chat_id, message.chat.id)
    leave(Receipt.DURABLE)


async def membership_changed(update: Update, context: Context) -> None:
    """Fall silent where the bot is out or muted, go on where it is in; a private chat is left by blocking the bot."""
    change = update.my_chat_member
    if change is not None and _can_speak(change.new_chat_member):
        await context.game.chats.returned(change.chat.id)
    elif change is not None:
        await context.game.chats.left(change.chat.id)
    leave(Receipt.DURABLE)


async def topic_reopened(update: Update, context: Context) -> None:
    """Go on in a topic that was closed; General, the chat itself, is one too."""
    if update.message is not None:
        place = place_of(update.message)
        await context.game.chats.returned(place.chat_ref, place.thread)
    leave(Receipt.DURABLE)


def _can_speak(member: ChatMember) -> bool:
    if isinstance(member, ChatMemberRestricted):
        return member.is_member and member.can_send_messages
    return member.status not in _OUT
