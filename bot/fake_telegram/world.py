"""Who is where: accounts, chats, their members and topics. Nothing here talks to the bot.

Accounts have more than 32 bits, as Telegram's newer ones do. Unless ``ids_alike``, each chat numbers its messages from
a place of its own, so that a reply sent to the wrong chat is seen for what it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NewType

from bot.fake_telegram.messages import Message

UserId = NewType("UserId", int)
ChatId = NewType("ChatId", int)

ANONYMOUS: Final = UserId(1087968824)
"""Speaks for admins who hide behind their group."""
CHANNEL_BOT: Final = UserId(136817688)
"""Speaks for channels in groups."""
TELEGRAM: Final = UserId(777000)
"""Forwards a channel's posts into its group."""
GENERAL: Final = 1
"""A forum's own topic, which is no address."""

_FIRST_USER: Final = 6_000_000_000
_FIRST_GROUP: Final = 4_000_000_000
_FIRST_SUPERGROUP: Final = 1_000_000_000_000 + 2_000_000_000
_APART: Final = 100_000
_MOST_APART: Final = 20_000


class ChatKind(StrEnum):
    """What a chat is."""

    PRIVATE = "private"
    GROUP = "group"
    SUPERGROUP = "supergroup"
    CHANNEL = "channel"


class Status(StrEnum):
    """What a member is in a chat."""

    CREATOR = "creator"
    ADMINISTRATOR = "administrator"
    MEMBER = "member"
    RESTRICTED = "restricted"
    LEFT = "left"
    KICKED = "kicked"

    @property
    def inside(self) -> bool:
        """Whether such a member sees the chat."""
        return self not in {Status.LEFT, Status.KICKED}

    @property
    def in_charge(self) -> bool:
        """Whether such a member is an admin."""
        return self in {Status.CREATOR, Status.ADMINISTRATOR}


@dataclass(frozen=True, slots=True)
class User:
    """An account."""

    id: UserId
    first_name: str
    last_name: str = ""
    username: str = ""
    is_bot: bool = False


@dataclass(slots=True)
class Member:
    """An account in one chat."""

    user: User
    status: Status = Status.MEMBER
    anonymous: bool = False


@dataclass(slots=True)
class Topic:
    """A forum's topic."""

    thread: int
    name: str
    closed: bool = False
    deleted: bool = False


@dataclass(slots=True, eq=False)
class Chat:
    """A chat with everything in it."""

    id: ChatId
    kind: ChatKind
    title: str
    next_message_id: int
    forum: bool = False
    members: dict[UserId, Member] = field(default_factory=dict, repr=False)
    topics: dict[int, Topic] = field(default_factory=dict, repr=False)
    messages: dict[int, Message] = field(default_factory=dict, repr=False)
    migrated_to: Chat | None = field(default=None, repr=False)
    migrated_from: Chat | None = field(default=None, repr=False)
    blocked: bool = False
    """Of a private chat: the person has stopped the bot."""

    @property
    def user(self) -> User:
        """Of a private chat: the person."""
        return self.members[UserId(self.id)].user

    def status(self, user: User) -> Status:
        """What ``user`` is here; whoever was never here has left."""
        member = self.members.get(user.id)
        return Status.LEFT if member is None else member.status

    def set_status(self, user: User, status: Status, *, anonymous: bool = False) -> Status:
        """Make ``user`` that; answers what it was."""
        was = self.status(user)
        self.members[user.id] = Member(user, status, anonymous)
        return was

    def open_topic(self, thread: int, name: str) -> None:
        """Open a topic of a forum; its thread is the number of the message that opened it."""
        self.topics[thread] = Topic(thread, name)

    def take_message_id(self) -> int:
        """An id that no message of the chat has; they ascend."""
        self.next_message_id += 1
        return self.next_message_id - 1


class World:
    """Every account and chat that the bot can meet.

    Args:
        bot: the bot.
        ids_alike: every chat numbers its messages from 1, so that ids of different chats are the same.
        first_chat: where the numbers of chats begin, so that those of another run on the same data are others.
    """

    def __init__(self, bot: User, *, ids_alike: bool = False, first_chat: int = 0) -> None:
        self.bot = bot
        self.users: dict[UserId, User] = {bot.id: bot}
        self.chats: dict[ChatId, Chat] = {}
        self._ids_alike = ids_alike
        self._made = first_chat

    def user(self, first_name: str, *, last_name: str = "", username: str = "", is_bot: bool = False) -> User:
        """A new account."""
        user = User(UserId(_FIRST_USER + len(self.users)), first_name, last_name, username, is_bot)
        self.users[user.id] = user
        return user

    def private(self, user: User) -> Chat:
        """The chat of ``user`` with the bot; there is one once the person has opened it."""
        chat = self.chats.get(ChatId(user.id))
        if chat is None:
            chat = self._chat(ChatKind.PRIVATE, user.first_name, ChatId(user.id))
            chat.set_status(user, Status.MEMBER)
        return chat

    def group(self, title: str, owner: User, members: Iterable[User] = (), *, bot: Status = Status.MEMBER) -> Chat:
        """A new small group, with the bot in it as ``bot``."""
        chat = self._chat(ChatKind.GROUP, title, ChatId(-_FIRST_GROUP - self._made))
        return self._inhabited(chat, owner, members, bot)

    def supergroup(
        self,
        title: str,
        owner: User,
        members: Iterable[User] = (),
        *,
        bot: Status = Status.MEMBER,
        forum: bool = False,
    ) -> Chat:
        """A new supergroup, with the bot in it as ``bot``; a forum has topics."""
        chat = self._inhabited(self._chat(ChatKind.SUPERGROUP, title, self._supergroup_id()), owner, members, bot)
        chat.forum = forum
        if forum:
            chat.open_topic(GENERAL, "General")
            chat.next_message_id = max(chat.next_message_id, GENERAL + 1)
        return chat

    def channel(self, title: str, owner: User, *, bot: Status = Status.ADMINISTRATOR) -> Chat:
        """A new channel, with the bot in it as ``bot``."""
        return self._inhabited(self._chat(ChatKind.CHANNEL, title, self._supergroup_id()), owner, (), bot)

    def upgrade(self, group: Chat) -> Chat:
        """Turn a group into a supergroup; the group is over. The people stay who they are."""
        chat = self._chat(ChatKind.SUPERGROUP, group.title, self._supergroup_id())
        chat.members = {user_id: Member(it.user, it.status, it.anonymous) for user_id, it in group.members.items()}
        chat.migrated_from, group.migrated_to = group, chat
        return chat

    def _supergroup_id(self) -> ChatId:
        return ChatId(-_FIRST_SUPERGROUP - self._made)

    def _chat(self, kind: ChatKind, title: str, chat_id: ChatId) -> Chat:
        first = 1 if self._ids_alike else 1 + self._made % _MOST_APART * _APART
        chat = Chat(chat_id, kind, title, first)
        chat.set_status(self.bot, Status.MEMBER)
        self._made += 1
        self.chats[chat_id] = chat
        return chat

    def _inhabited(self, chat: Chat, owner: User, members: Iterable[User], bot: Status) -> Chat:
        chat.set_status(self.bot, bot)
        for user in members:
            chat.set_status(user, Status.MEMBER)
        chat.set_status(owner, Status.CREATOR)
        return chat
