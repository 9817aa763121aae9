"""A message in a chat."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bot.entities import Entity

if TYPE_CHECKING:
    from bot.fake_telegram.pending import Update
    from bot.fake_telegram.world import Chat, User

Json = dict[str, Any]


@dataclass(slots=True, eq=False)
class Message:
    """What a chat shows under one number.

    ``author`` is the account that Telegram names, which for an anonymous admin or a channel is not a person's;
    ``behind`` is the person who did it.
    """

    id: int
    chat: Chat
    author: User | None
    date_ms: int
    text: str = ""
    entities: tuple[Entity, ...] = ()
    markup: Json | None = None
    thread: int = 0
    topical: bool = False
    reply_to: Message | None = field(default=None, repr=False)
    sender_chat: Chat | None = None
    behind: User | None = None
    forwarded: bool = False
    service: Json = field(default_factory=dict)
    edited_ms: int | None = None
    deleted: bool = False
    update: Update | None = field(default=None, repr=False)
    """What told the bot of it, if anything did."""
