"""Accounts, chats, members and messages in the Bot API's words."""

from __future__ import annotations

from bot.fake_telegram.messages import Json, Message
from bot.fake_telegram.world import Chat, ChatKind, Member, Status, User


def user_view(user: User) -> Json:
    """An account."""
    told: Json = {"id": user.id, "is_bot": user.is_bot, "first_name": user.first_name}
    if user.last_name:
        told["last_name"] = user.last_name
    if user.username:
        told["username"] = user.username
    return told


def chat_view(chat: Chat) -> Json:
    """A chat."""
    told: Json = {"id": chat.id, "type": chat.kind.value}
    if chat.kind is ChatKind.PRIVATE:
        names = user_view(chat.user)
        told |= {name: names[name] for name in ("first_name", "last_name", "username") if name in names}
    else:
        told["title"] = chat.title
    if chat.forum:
        told["is_forum"] = True
    return told


def member_view(member: Member) -> Json:
    """A member of a chat."""
    told: Json = {"status": member.status.value, "user": user_view(member.user)}
    if member.status.in_charge:
        told["is_anonymous"] = member.anonymous
    if member.status is Status.ADMINISTRATOR:
        told |= dict.fromkeys(_RIGHTS, True) | {"can_be_edited": False}
    elif member.status is Status.RESTRICTED:
        told |= dict.fromkeys(_PERMISSIONS, False) | {"is_member": True, "until_date": 0}
    elif member.status is Status.KICKED:
        told["until_date"] = 0
    return told


def message_view(message: Message, *, replied: bool = True) -> Json:
    """A message; ``replied``: with the message that it answers."""
    told: Json = {
        "message_id": message.id,
        "date": message.date_ms // 1000,
        "chat": chat_view(message.chat),
        **_sender_view(message),
    }
    if message.thread:
        told["message_thread_id"] = message.thread
    if message.topical:
        told["is_topic_message"] = True
    if replied and message.reply_to is not None and not message.reply_to.deleted:
        told["reply_to_message"] = message_view(message.reply_to, replied=False)
    if message.edited_ms is not None:
        told["edit_date"] = message.edited_ms // 1000
    if message.text:
        told["text"] = message.text
    if message.entities:
        told["entities"] = [entity.to_dict() for entity in message.entities]
    if message.markup is not None:
        told["reply_markup"] = message.markup
    return told | message.service


def _sender_view(message: Message) -> Json:
    told: Json = {}
    if message.author is not None:
        told["from"] = user_view(message.author)
    if message.sender_chat is not None:
        told["sender_chat"] = chat_view(message.sender_chat)
    if message.forwarded:
        told["is_automatic_forward"] = True
    return told


_RIGHTS = (
    "can_manage_chat",
    "can_delete_messages",
    "can_manage_video_chats",
    "can_restrict_members",
    "can_promote_members",
    "can_change_info",
    "can_invite_users",
    "can_post_stories",
    "can_edit_stories",
    "can_delete_stories",
    "can_pin_messages",
    "can_manage_topics",
)
_PERMISSIONS = (
    "can_send_messages",
    "can_send_audios",
    "can_send_documents",
    "can_send_photos",
    "can_send_videos",
    "can_send_video_notes",
    "can_send_voice_notes",
    "can_send_polls",
    "can_send_other_messages",
    "can_add_web_page_previews",
    "can_change_info",
    "can_invite_users",
    "can_pin_messages",
    "can_manage_topics",
    "can_edit_tag",
    "can_react_to_messages",
)
