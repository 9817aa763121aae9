"""Who comes, goes, rises and falls in chats, and what becomes of a group that grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.fake_telegram.clock import wall_ms
from bot.fake_telegram.messages import Json, Message
from bot.fake_telegram.telling import Telling
from bot.fake_telegram.views import user_view
from bot.fake_telegram.world import Chat, ChatKind, Status, User, World


class Sign(StrEnum):
    """The two messages that tell of a migration; the third sign is the 400 of whoever writes to the old chat."""

    TO = "migrate_to_chat_id"
    FROM = "migrate_from_chat_id"


@dataclass(slots=True)
class Membership:
    """Deeds that change who is what."""

    world: World
    telling: Telling

    def join(self, user: User, chat: Chat) -> None:
        """Come in."""
        self._become(chat, user, Status.MEMBER, user)
        self._note(chat, user, {"new_chat_members": [user_view(user)]})

    def leave(self, user: User, chat: Chat) -> None:
        """Go."""
        self._become(chat, user, Status.LEFT, user)
        self._note(chat, user, {"left_chat_member": user_view(user)})

    def promote(self, user: User, chat: Chat, by: User, *, anonymous: bool = False) -> None:
        """Make ``user`` (who may be the bot) an admin; an anonymous one speaks for the group."""
        self._become(chat, user, Status.ADMINISTRATOR, by, anonymous=anonymous)

    def demote(self, user: User, chat: Chat, by: User) -> None:
        """Make an admin a member again."""
        self._become(chat, user, Status.MEMBER, by)

    def restrict(self, user: User, chat: Chat, by: User) -> None:
        """Take the right to write from ``user``."""
        self._become(chat, user, Status.RESTRICTED, by)

    def kick(self, user: User, chat: Chat, by: User) -> None:
        """Throw ``user`` (who may be the bot) out."""
        self._become(chat, user, Status.KICKED, by)

    def add_bot(self, chat: Chat, by: User, status: Status = Status.MEMBER) -> None:
        """Bring the bot in, for the first time or again."""
        bot = self.world.bot
        self._become(chat, bot, status, by)
        self._note(chat, by, {"new_chat_members": [user_view(bot)]})

    def block(self, chat: Chat) -> None:
        """Have the person of a private chat stop the bot."""
        self._toggle(chat, blocked=True)

    def unblock(self, chat: Chat) -> None:
        """Have the person start it again."""
        self._toggle(chat, blocked=False)

    def migrate(self, group: Chat, by: User, signs: Sequence[Sign] = (Sign.TO, Sign.FROM)) -> Chat:
        """Turn a group into a supergroup. Whoever writes to the old one is answered 400 from now on.

        Args:
            group: the small group.
            by: who did it.
            signs: the messages that tell of it, in this order; what is left out ``tell`` can tell later.

        Raises:
            ValueError: it is no small group (any more).
        """
        if group.kind is not ChatKind.GROUP or group.migrated_to is not None:
            raise ValueError(f"{group.title} is no small group")
        chat = self.world.upgrade(group)
        for sign in signs:
            self.tell(sign, group, by)
        return chat

    def tell(self, sign: Sign, group: Chat, by: User) -> None:
        """Tell of the migration of ``group``."""
        chat = group.migrated_to
        if chat is None:
            raise ValueError(f"{group.title} did not migrate")
        where, other = (group, chat) if sign is Sign.TO else (chat, group)
        self._note(where, by, {sign.value: other.id})

    def _become(self, chat: Chat, user: User, status: Status, by: User, *, anonymous: bool = False) -> None:
        was = chat.set_status(user, status, anonymous=anonymous)
        self.telling.membership(chat, user, was, by)

    def _note(self, chat: Chat, by: User, service: Json) -> None:
        message = Message(chat.take_message_id(), chat, by, wall_ms(), service=service, behind=by)
        chat.messages[message.id] = message
        self.telling.message(message)

    def _toggle(self, chat: Chat, *, blocked: bool) -> None:
        chat.blocked = blocked
        self._become(chat, self.world.bot, Status.KICKED if blocked else Status.MEMBER, chat.user)
