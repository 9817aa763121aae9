"""Updates as Telegram sends them."""

from __future__ import annotations

import itertools
import re
from typing import Any

GROUP = -1001234567890
ANONYMOUS = 1087968824
TELEGRAM = 777000

ids = itertools.count(1)

_COMMAND = re.compile(r"/\w+(@\w+)?")


def person(number: int, first: str = "", **fields: Any) -> dict[str, Any]:
    return {"id": number, "is_bot": False, "first_name": first or f"P{number}", **fields}


ANA = person(11, "Ana")
BEN = person(12, "Ben")


def group(number: int = GROUP, title: str = "A group") -> dict[str, Any]:
    return {"id": number, "type": "supergroup", "title": title}


def private(user: dict[str, Any]) -> dict[str, Any]:
    return {"id": user["id"], "type": "private", "first_name": user["first_name"]}


def message(
    text: str, user: dict[str, Any] | None = None, chat: dict[str, Any] | None = None, **fields: Any
) -> dict[str, Any]:
    """A message with its command marked, as servers do."""
    made: dict[str, Any] = {
        "message_id": next(ids),
        "date": 1_700_000_000,
        "chat": chat if chat is not None else group(),
        "from": user if user is not None else ANA,
        "text": text,
    }
    command = _COMMAND.match(text)
    if command is not None:
        made["entities"] = [{"type": "bot_command", "offset": 0, "length": command.end()}]
    return {**made, **fields}


def update(content: dict[str, Any], kind: str = "message") -> dict[str, Any]:
    return {"update_id": next(ids), kind: content}


def said(
    text: str, user: dict[str, Any] | None = None, chat: dict[str, Any] | None = None, **fields: Any
) -> dict[str, Any]:
    """The update of a new message."""
    return update(message(text, user, chat, **fields))


def anonymously(text: str, chat: dict[str, Any] | None = None) -> dict[str, Any]:
    """What an admin says who hides behind the group."""
    chat = chat if chat is not None else group()
    hidden = {"id": ANONYMOUS, "is_bot": True, "first_name": "Group", "username": "GroupAnonymousBot"}
    return said(text, hidden, chat, sender_chat=chat)


def membership(status: str, chat: dict[str, Any]) -> dict[str, Any]:
    """The update by which the bot learns that it was let into ``chat``, or sent away."""
    bot = {"id": 4242, "is_bot": True, "first_name": "Codemojex"}
    until = {"until_date": 0} if status == "kicked" else {}
    change = {
        "chat": chat,
        "from": ANA,
        "date": 1_700_000_000,
        "old_chat_member": {"status": "left" if status == "member" else "member", "user": bot},
        "new_chat_member": {"status": status, "user": bot, **until},
    }
    return update(change, "my_chat_member")
