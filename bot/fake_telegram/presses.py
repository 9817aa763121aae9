"""Presses of buttons that wait for their toast."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from bot.fake_telegram.errors import bad_request
from bot.fake_telegram.messages import Message
from bot.fake_telegram.world import User

_TOO_OLD: Final = "query is too old and response timeout expired or query ID is invalid"
_FIRST: Final = 4_382_000_000_000_000_000


@dataclass(slots=True, eq=False)
class Press:
    """Somebody pressed a button; ``toast`` is what they were answered (None: not yet)."""

    id: str
    user: User
    message: Message
    data: str
    expires_ms: int
    toast: str | None = None


@dataclass(slots=True)
class Presses:
    """Every press, by its id."""

    made: dict[str, Press] = field(default_factory=dict)

    def press(self, user: User, message: Message, data: str, expires_ms: int) -> Press:
        """Note a new one."""
        press = Press(str(_FIRST + len(self.made)), user, message, data, expires_ms)
        self.made[press.id] = press
        return press

    def answer(self, press_id: str, toast: str, now_ms: int) -> Press:
        """Answer one.

        Raises:
            Refused: there is none such, or it was answered, or that is too late.
        """
        press = self.made.get(press_id)
        if press is None or press.toast is not None or now_ms >= press.expires_ms:
            raise bad_request(_TOO_OLD)
        press.toast = toast
        return press
