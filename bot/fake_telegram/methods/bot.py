"""The bot itself: who it is, its menu, and how it gets its updates."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from bot.fake_telegram.calls import Call
from bot.fake_telegram.desk import Desk
from bot.fake_telegram.errors import bad_request, conflict
from bot.fake_telegram.messages import Json
from bot.fake_telegram.views import user_view
from bot.fake_telegram.webhook import DEFAULT_CONNECTIONS, Hook

_MOST_CONNECTIONS: Final = 100
_LONGEST_SECRET: Final = 256
_SECRET: Final = re.compile(r"[A-Za-z0-9_-]*")
_COMMAND: Final = re.compile(r"[a-z0-9_]{1,32}")
_LONGEST_DESCRIPTION: Final = 256
_MOST_COMMANDS: Final = 100
_WEBHOOK_ACTIVE: Final = (
    "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
)


async def get_me(desk: Desk, _: Call) -> Json:
    """``getMe``."""
    return {
        **user_view(desk.world.bot),
        "can_join_groups": True,
        "can_read_all_group_messages": desk.reads_all,
        "supports_inline_queries": False,
        "can_connect_to_business": False,
        "has_main_web_app": False,
    }


async def get_updates(desk: Desk, call: Call) -> list[Json]:
    """``getUpdates``."""
    if desk.webhook.hook is not None:
        raise conflict(
            "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
        )
    _allow(desk, call)
    return await desk.polling.get(call)


async def set_webhook(desk: Desk, call: Call) -> bool:
    """``setWebhook``; unlike Telegram, it takes plain HTTP on any port."""
    url = call.text("url")
    if not url:
        return await delete_webhook(desk, call)
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise bad_request("invalid webhook URL specified")
    secret = call.text("secret_token")
    if len(secret) > _LONGEST_SECRET:
        raise bad_request("secret token is too long")
    if not _SECRET.fullmatch(secret):
        raise bad_request("secret token contains unallowed characters")
    connections = min(max(call.number("max_connections", DEFAULT_CONNECTIONS), 1), _MOST_CONNECTIONS)
    _allow(desk, call)
    desk.polling.end()
    await desk.webhook.stop()
    _drop(desk, call)
    desk.webhook.start(Hook(url, secret, connections))
    return True


async def delete_webhook(desk: Desk, call: Call) -> bool:
    """``deleteWebhook``."""
    await desk.webhook.stop()
    _drop(desk, call)
    return True


async def get_webhook_info(desk: Desk, _: Call) -> Json:
    """``getWebhookInfo``."""
    return desk.webhook.info()


async def set_my_commands(desk: Desk, call: Call) -> bool:
    """``setMyCommands``; scopes and languages are passed over."""
    commands = call.value("commands")
    if not isinstance(commands, list) or len(commands) > _MOST_COMMANDS:
        raise bad_request("can't parse commands: expected an Array of BotCommand")
    for command in commands:
        if not _COMMAND.fullmatch(str(command.get("command", "")).removeprefix("/")):
            raise bad_request("BOT_COMMAND_INVALID")
        if not 1 <= len(str(command.get("description", ""))) <= _LONGEST_DESCRIPTION:
            raise bad_request("BOT_COMMAND_DESCRIPTION_INVALID")
    desk.menu = commands
    return True


async def get_my_commands(desk: Desk, _: Call) -> list[Json]:
    """``getMyCommands``."""
    return desk.menu


async def delete_my_commands(desk: Desk, _: Call) -> bool:
    """``deleteMyCommands``."""
    desk.menu = []
    return True


def _allow(desk: Desk, call: Call) -> None:
    kinds = call.value("allowed_updates")
    if isinstance(kinds, list):
        desk.pending.allow(map(str, kinds))


def _drop(desk: Desk, call: Call) -> None:
    if call.flag("drop_pending_updates"):
        desk.pending.keep_last(0)
