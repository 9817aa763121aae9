"""Where rooms live in the outer world. ``engine.store`` implements it."""

from __future__ import annotations

from typing import Protocol

from engine.game.model import Chat, Room
from engine.ids import ChatId, RoomId


class Chats(Protocol):
    """Chats as the outer world knows them: one that became another, one that the bot is not in."""

    async def lock(self, chat_ref: int) -> Chat | None:
        """The chat known by ``chat_ref``, and nobody else's before this unit ends; None where there is none."""

    async def rooms(self, chat: ChatId) -> list[Room]:
        """The chat's rooms, the oldest first."""

    async def played(self, chat: ChatId) -> bool:
        """Whether a round was ever opened in one of the chat's rooms."""

    async def away(self, chat: ChatId, *, away: bool) -> None:
        """Write whether the bot can't speak to the chat."""

    async def rename(self, chat: Chat, chat_ref: int) -> None:
        """Let the chat be known by ``chat_ref``, and the number that it had lead to it."""

    async def point(self, chat_ref: int, chat: Chat) -> None:
        """Let ``chat_ref``, which is no chat's number, lead to ``chat``."""

    async def merge(self, stays: Chat, goes: Chat, *, new_ref: int, old_ref: int) -> list[RoomId]:
        """Make one chat of two: ``stays`` is known as ``new_ref``, and ``goes``, as ``old_ref``, leads to it.

        A room of ``goes`` becomes one of ``stays`` where there is none at its place; answers the others.
        """
