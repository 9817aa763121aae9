"""The methods of the Bot API that the fake knows, by their names in lower case: Telegram takes any case."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from bot.fake_telegram.calls import Call
from bot.fake_telegram.desk import Desk
from bot.fake_telegram.methods import bot, chats, messages, presses

Method = Callable[[Desk, Call], Awaitable[Any]]

METHODS: Final[dict[str, Method]] = {
    "getme": bot.get_me,
    "getupdates": bot.get_updates,
    "setwebhook": bot.set_webhook,
    "deletewebhook": bot.delete_webhook,
    "getwebhookinfo": bot.get_webhook_info,
    "setmycommands": bot.set_my_commands,
    "getmycommands": bot.get_my_commands,
    "deletemycommands": bot.delete_my_commands,
    "sendmessage": messages.send_message,
    "editmessagetext": messages.edit_message_text,
    "editmessagereplymarkup": messages.edit_message_reply_markup,
    "deletemessage": messages.delete_message,
    "answercallbackquery": presses.answer_callback_query,
    "getchat": chats.get_chat,
    "getchatmember": chats.get_chat_member,
    "getchatadministrators": chats.get_chat_administrators,
    "getchatmembercount": chats.get_chat_member_count,
    "leavechat": chats.leave_chat,
}
