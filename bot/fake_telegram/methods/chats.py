"""What a chat is, and who is in it."""

from __future__ import annotations

from bot.fake_telegram.calls import Call
from bot.fake_telegram.desk import Desk, migrated
from bot.fake_telegram.errors import bad_request
from bot.fake_telegram.messages import Json
from bot.fake_telegram.views import chat_view, member_view
from bot.fake_telegram.world import Chat, ChatKind, Member, Status, UserId


async def get_chat(desk: Desk, call: Call) -> Json:
    """``getChat``."""
    chat = desk.readable(call)
    return {
        **chat_view(chat),
        "accent_color_id": 0,
        "max_reaction_count": 11,
        "accepted_gift_types": dict.fromkeys(_GIFTS, False),
    }


async def get_chat_member(desk: Desk, call: Call) -> Json:
    """``getChatMember``."""
    chat = _with_members(desk, call)
    user = desk.world.users.get(UserId(call.number("user_id")))
    if user is None:
        raise bad_request("user not found")
    return member_view(chat.members.get(user.id) or Member(user, Status.LEFT))


async def get_chat_administrators(desk: Desk, call: Call) -> list[Json]:
    """``getChatAdministrators``: all but other bots."""
    chat = _with_members(desk, call)
    if chat.kind is ChatKind.PRIVATE:
        raise bad_request("there are no administrators in the private chat")
    members = chat.members.values()
    return [
        member_view(it) for it in members if it.status.in_charge and (not it.user.is_bot or it.user is desk.world.bot)
    ]


async def get_chat_member_count(desk: Desk, call: Call) -> int:
    """``getChatMemberCount``."""
    return sum(member.status.inside for member in _with_members(desk, call).members.values())


async def leave_chat(desk: Desk, call: Call) -> bool:
    """``leaveChat``."""
    chat = desk.writable(call)
    if chat.kind is ChatKind.PRIVATE:
        raise bad_request("can't leave private chats")
    chat.set_status(desk.world.bot, Status.LEFT)
    return True


def _with_members(desk: Desk, call: Call) -> Chat:
    chat = desk.readable(call)
    if chat.migrated_to is not None:
        raise migrated(chat.migrated_to)
    return chat


_GIFTS = ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels")
