"""What people do in chats. Each deed changes the world, and tells the bot what Telegram would tell it."""

from __future__ import annotations

from dataclasses import dataclass

from bot.entities import commands, units
from bot.fake_telegram.clock import monotonic_ms, wall_ms
from bot.fake_telegram.messages import Message
from bot.fake_telegram.presses import Press, Presses
from bot.fake_telegram.telling import Telling
from bot.fake_telegram.timing import Timing
from bot.fake_telegram.world import (
    ANONYMOUS,
    CHANNEL_BOT,
    TELEGRAM,
    Chat,
    ChatKind,
    User,
    World,
)

_LONGEST_TEXT = 4_096
_GROUP_BOT = User(ANONYMOUS, "Group", username="GroupAnonymousBot", is_bot=True)
_CHANNEL_BOT = User(CHANNEL_BOT, "Channel", username="Channel_Bot", is_bot=True)
_TELEGRAM = User(TELEGRAM, "Telegram")


@dataclass(slots=True)
class Crowd:
    """Messages and presses; ``bot.fake_telegram.membership`` has who comes and goes."""

    world: World
    telling: Telling
    presses: Presses
    timing: Timing

    def say(
        self,
        user: User,
        chat: Chat,
        text: str,
        *,
        thread: int = 0,
        reply_to: Message | None = None,
        as_channel: Chat | None = None,
    ) -> Message:
        """Have ``user`` write into ``chat``; whoever is an anonymous admin there speaks for the group.

        Args:
            user: who.
            chat: where.
            text: what; the client marks commands in it.
            thread: a topic of a forum; 0: the chat itself.
            reply_to: the message that it answers.
            as_channel: the channel that ``user`` speaks for.

        Raises:
            ValueError: the client would not let them.
        """
        if not text.strip() or units(text) > _LONGEST_TEXT:
            raise ValueError(f"a message has 1 to {_LONGEST_TEXT} characters")
        text.encode()  # no client sends half a character: that is a ValueError, too
        if chat.migrated_to is not None:
            raise ValueError(f"{chat.title} is a supergroup now; write into that")
        if chat.kind is ChatKind.PRIVATE:
            chat.blocked = False
        thread, topical = self._thread(chat, thread, reply_to)
        message = Message(
            chat.take_message_id(),
            chat,
            user,
            wall_ms(),
            text,
            commands(text),
            thread=thread,
            topical=topical,
            reply_to=reply_to,
            behind=user,
        )
        member = chat.members.get(user.id)
        if as_channel is not None:
            message.author, message.sender_chat = _CHANNEL_BOT, as_channel
        elif member is not None and member.anonymous and member.status.in_charge:
            message.author, message.sender_chat = _GROUP_BOT, chat
        return self._post(message)

    def post(self, channel: Chat, text: str, *, into: Chat | None = None) -> Message:
        """Publish in a channel; with ``into``, Telegram forwards that into the channel's group. Answers the post."""
        message = Message(channel.take_message_id(), channel, None, wall_ms(), text, commands(text))
        message.sender_chat = channel
        channel.messages[message.id] = message
        self.telling.message(message, "channel_post")
        if into is not None:
            forward = Message(into.take_message_id(), into, _TELEGRAM, wall_ms(), text, commands(text))
            forward.sender_chat, forward.forwarded = channel, True
            self._post(forward)
        return message

    def edit(self, message: Message, text: str) -> None:
        """Have whoever wrote ``message`` write something else in its place."""
        message.text, message.entities, message.edited_ms = text, commands(text), wall_ms()
        self.telling.message(message, "edited_message")

    def delete(self, message: Message) -> None:
        """Have ``message`` vanish; bots are not told."""
        message.deleted = True

    def press(self, user: User, message: Message, data: str | None = None, *, age_ms: int = 0) -> Press:
        """Have ``user`` press a button of ``message``.

        Args:
            user: who.
            message: the one with the keyboard.
            data: what the button carries, also what no button of the message carries; None: its first button's.
            age_ms: how long ago that was.

        Raises:
            ValueError: there is no button.
        """
        if data is None:
            data = next((it for it in buttons(message)), None)
        if data is None:
            raise ValueError(f"message {message.id} has no button to press")
        press = self.presses.press(user, message, data, monotonic_ms() - age_ms + self.timing.press_ms)
        self.telling.press(press)
        return press

    def open_topic(self, user: User, chat: Chat, name: str) -> int:
        """Open a topic of a forum; answers its thread."""
        message = self._serve(user, chat, {"forum_topic_created": {"name": name, "icon_color": 7322096}}, tell=False)
        chat.open_topic(message.id, name)
        message.thread, message.topical = message.id, True
        self.telling.message(message)
        return message.id

    def close_topic(self, user: User, chat: Chat, thread: int) -> None:
        """Close a topic: only admins write there now. Thread 1 is General."""
        chat.topics[thread].closed = True
        self._serve(user, chat, {"forum_topic_closed": {}}, thread=thread)

    def reopen_topic(self, user: User, chat: Chat, thread: int) -> None:
        """Open it again."""
        chat.topics[thread].closed = False
        self._serve(user, chat, {"forum_topic_reopened": {}}, thread=thread)

    def delete_topic(self, chat: Chat, thread: int) -> None:
        """Have a topic vanish with its messages; bots are not told."""
        chat.topics[thread].deleted = True
        for message in chat.messages.values():
            if message.thread == thread:
                message.deleted = True

    def _serve(self, user: User, chat: Chat, what: dict[str, object], *, thread: int = 0, tell: bool = True) -> Message:
        topical = thread > 1
        message = Message(chat.take_message_id(), chat, user, wall_ms(), service=what, behind=user)
        message.thread, message.topical = thread if topical else 0, topical
        chat.messages[message.id] = message
        if tell:
            self.telling.message(message)
        return message

    def _post(self, message: Message) -> Message:
        message.chat.messages[message.id] = message
        self.telling.message(message)
        return message

    @staticmethod
    def _thread(chat: Chat, thread: int, reply_to: Message | None) -> tuple[int, bool]:
        """The thread that Telegram writes on the message, and whether that is a topic.

        A reply in a supergroup's main room has a thread too: the number of the message at its beginning.
        """
        if thread:
            if thread not in chat.topics:
                raise ValueError(f"{chat.title} has no topic {thread}")
            return (thread, True) if thread > 1 else (0, False)
        if reply_to is None or chat.kind is not ChatKind.SUPERGROUP:
            return 0, False
        return reply_to.thread or reply_to.id, reply_to.topical


def buttons(message: Message) -> list[str]:
    """What the buttons of ``message`` carry."""
    rows = (message.markup or {}).get("inline_keyboard", ())
    return [button["callback_data"] for row in rows for button in row if "callback_data" in button]
