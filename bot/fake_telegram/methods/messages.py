"""Messages of the bot: sent, edited, deleted."""

from __future__ import annotations

from typing import Final

from bot.fake_telegram.calls import Call
from bot.fake_telegram.clock import wall_ms
from bot.fake_telegram.desk import Desk
from bot.fake_telegram.errors import bad_request
from bot.fake_telegram.judge import Wrong
from bot.fake_telegram.keyboards import read_keyboard
from bot.fake_telegram.ledger import Shown
from bot.fake_telegram.messages import Json, Message
from bot.fake_telegram.texts import read_text
from bot.fake_telegram.views import message_view
from bot.fake_telegram.world import GENERAL, Chat, ChatKind

_NOT_MODIFIED: Final = (
    "message is not modified: specified new message content and reply markup are exactly the same as a current content "
    "and reply markup of the message"
)
_EDIT_LIMIT: Final = "MESSAGE_TOO_LONG"


async def send_message(desk: Desk, call: Call) -> Json:
    """``sendMessage``."""
    marked = read_text(call, desk.judge)
    markup = read_keyboard(call, desk.judge)
    chat = desk.writable(call)
    thread = _thread(desk, call, chat)
    reply_to = _reply_to(desk, call, chat)
    desk.spend(call, chat)
    message = Message(
        chat.take_message_id(),
        chat,
        desk.world.bot,
        wall_ms(),
        marked.text,
        marked.entities,
        markup,
        thread=thread,
        topical=bool(thread),
        reply_to=reply_to,
    )
    chat.messages[message.id] = message
    desk.ledger.show(Shown.SENT, message, call)
    return message_view(message)


async def edit_message_text(desk: Desk, call: Call) -> Json:
    """``editMessageText``."""
    marked = read_text(call, desk.judge, _EDIT_LIMIT)
    markup = read_keyboard(call, desk.judge)
    message = _to_edit(desk, call)
    if (message.text, message.entities, message.markup) == (marked.text, marked.entities, markup):
        raise bad_request(_NOT_MODIFIED)
    message.text, message.entities, message.markup = marked.text, marked.entities, markup
    return _edited(desk, call, message)


async def edit_message_reply_markup(desk: Desk, call: Call) -> Json:
    """``editMessageReplyMarkup``."""
    markup = read_keyboard(call, desk.judge)
    message = _to_edit(desk, call)
    if message.markup == markup:
        raise bad_request(_NOT_MODIFIED)
    message.markup = markup
    return _edited(desk, call, message)


async def delete_message(desk: Desk, call: Call) -> bool:
    """``deleteMessage``."""
    chat = desk.writable(call)
    message = chat.messages.get(call.number("message_id"))
    if message is None or message.deleted:
        raise bad_request("message to delete not found")
    is_own = message.author is desk.world.bot
    if not is_own and not chat.status(desk.world.bot).in_charge and chat.kind is not ChatKind.PRIVATE:
        raise bad_request("message can't be deleted")
    message.deleted = True
    desk.ledger.show(Shown.DELETED, message, call)
    return True


def _to_edit(desk: Desk, call: Call) -> Message:
    chat = desk.writable(call)
    message = chat.messages.get(call.number("message_id"))
    if message is None or message.deleted:
        raise bad_request("message to edit not found")
    if message.author is not desk.world.bot:
        raise bad_request("message can't be edited")
    desk.spend(call, chat)
    return message


def _edited(desk: Desk, call: Call, message: Message) -> Json:
    message.edited_ms = wall_ms()
    desk.ledger.show(Shown.EDITED, message, call)
    return message_view(message)


def _thread(desk: Desk, call: Call, chat: Chat) -> int:
    thread = call.number("message_thread_id")
    if thread == GENERAL:
        desk.judge.note(Wrong.GENERAL_THREAD, call, "General is the chat itself")
        raise bad_request("message thread not found")
    topic = chat.topics.get(thread or GENERAL)
    if thread and (topic is None or topic.deleted):
        raise bad_request("message thread not found")
    if topic is not None and topic.closed and not chat.status(desk.world.bot).in_charge:
        raise bad_request("TOPIC_CLOSED")
    return thread


def _reply_to(desk: Desk, call: Call, chat: Chat) -> Message | None:
    asked = call.record("reply_parameters") or {
        "message_id": call.number("reply_to_message_id"),
        "allow_sending_without_reply": call.flag("allow_sending_without_reply"),
    }
    message_id = int(asked.get("message_id") or 0)
    if not message_id:
        return None
    elsewhere = str(asked.get("chat_id") or chat.id) != str(chat.id)
    message = None if elsewhere else chat.messages.get(message_id)
    if message is not None and not message.deleted:
        return message
    if message is None and (elsewhere or _is_of_another(desk, chat, message_id)):
        desk.judge.note(Wrong.WRONG_CHAT, call, f"message {message_id}")
    if not asked.get("allow_sending_without_reply"):
        raise bad_request("message to be replied not found")
    return None


def _is_of_another(desk: Desk, chat: Chat, message_id: int) -> bool:
    return any(
        message_id in other.messages for other in desk.world.chats.values() if other not in {chat, chat.migrated_from}
    )
