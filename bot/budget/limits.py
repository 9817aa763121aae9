"""How much Telegram takes, and the words of asking for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

Chat = int | str
"""A chat as the Bot API addresses it: its number, or a channel's ``@name``."""

TRAVEL_MS: Final = 100
"""How much later than others a call may arrive: every window is longer by this, so that it holds at Telegram's end."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Calls that people see: messages and edits. 0 is no limit.

    Args:
        calls_a_second: to all chats together.
        private_gap_ms: least time between two calls to one private chat.
        group_gap_ms: the same for a group, all its topics together.
        group_calls_a_minute: to one group, all its topics together.
    """

    calls_a_second: int = 30
    private_gap_ms: int = 1_000
    group_gap_ms: int = 3_000
    group_calls_a_minute: int = 20

    def gap_ms(self, chat: Chat) -> int:
        """Least time between two calls to ``chat``."""
        return self.group_gap_ms if is_group(chat) else self.private_gap_ms

    def calls_a_minute(self, chat: Chat) -> int:
        """Most calls a minute to ``chat``; 0 is no limit."""
        return self.group_calls_a_minute if is_group(chat) else 0


@dataclass(frozen=True, slots=True)
class Permit:
    """One call may be made now. ``rest_ms``: for how long its chat should be left alone afterwards."""

    rest_ms: int = 0


@dataclass(frozen=True, slots=True)
class Wait:
    """No call now. ``everyone``: it is all chats together that have had enough, not this one."""

    wait_ms: int
    everyone: bool


class Budget(Protocol):
    """Who may call Telegram, and when."""

    async def take(self, chat: Chat | None, *, counted: bool = True) -> Permit | Wait:
        """Ask for one call to ``chat`` (None: to none); a permit is spent, whatever comes of the call.

        Args:
            chat: whom the call is to.
            counted: False for a call that nobody sees: it costs nothing, and only waits where Telegram said so.

        Never raises and never waits for a permit.
        """
        ...

    async def hold(self, chat: Chat | None, ms: int) -> None:
        """Let nothing go to ``chat`` (None: to anybody) for ``ms`` from now; never shortens a hold."""
        ...


def is_group(chat: Chat) -> bool:
    """Whether ``chat`` is a group or a channel; people have numbers above zero."""
    return isinstance(chat, str) or chat < 0
