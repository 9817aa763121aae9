"""Tells the bot what happened, where it is one to hear it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.fake_telegram.clock import wall_ms
from bot.fake_telegram.messages import Json, Message
from bot.fake_telegram.pending import Pending
from bot.fake_telegram.presses import Press
from bot.fake_telegram.views import chat_view, member_view, message_view, user_view
from bot.fake_telegram.world import Chat, ChatKind, Member, Status, User, World

MESSAGES: Final = "message"
_PRESSES: Final = "press"
_MEMBERS: Final = "member"


@dataclass(slots=True)
class Telling:
    """Makes updates of what happens.

    ``reads_all``: in groups the bot hears everything, not only commands and replies to it.
    """

    world: World
    pending: Pending
    reads_all: bool

    def message(self, message: Message, kind: str = "message") -> None:
        """A new message or, by ``kind``, an edited one."""
        if self._hears(message):
            update = self.pending.add(kind, message_view(message), (MESSAGES, message.chat.id))
            message.update = update or message.update

    def press(self, press: Press) -> None:
        """Somebody pressed a button of the bot's."""
        message = press.message
        shown = message_view(message)
        if message.deleted:
            shown = {"chat": chat_view(message.chat), "message_id": message.id, "date": 0}
        content: Json = {
            "id": press.id,
            "from": user_view(press.user),
            "message": shown,
            "chat_instance": str(message.chat.id),
            "data": press.data,
        }
        self.pending.add("callback_query", content, (_PRESSES, press.user.id))

    def membership(self, chat: Chat, user: User, was: Status, by: User) -> None:
        """``user``, who may be the bot, is something else in ``chat`` now."""
        is_bot = user is self.world.bot
        if not is_bot and not chat.status(self.world.bot).inside:
            return
        content: Json = {
            "chat": chat_view(chat),
            "from": user_view(by),
            "date": wall_ms() // 1_000,
            "old_chat_member": member_view(Member(user, was)),
            "new_chat_member": member_view(chat.members[user.id]),
        }
        if is_bot:
            self.pending.add("my_chat_member", content, (_MEMBERS, chat.id))
        else:
            self.pending.add("chat_member", content, (_MEMBERS, user.id))

    def _hears(self, message: Message) -> bool:
        chat, bot = message.chat, self.world.bot
        if chat.kind is ChatKind.PRIVATE:
            return not chat.blocked
        if not chat.status(bot).inside:
            return False
        if self.reads_all or message.service or chat.status(bot).in_charge:
            return True
        if message.reply_to is not None and message.reply_to.author is bot:
            return True
        named = message.text.split(maxsplit=1)[:1]
        return bool(named) and named[0].startswith("/") and named[0].partition("@")[2] in {"", bot.username}
