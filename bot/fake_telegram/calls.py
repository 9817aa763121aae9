"""A call of the bot, and its parameters as Telegram reads them: from a form, a query or JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from bot.fake_telegram.errors import bad_request
from bot.fake_telegram.messages import Json
from bot.fake_telegram.world import ChatId

_TRUE: Final = frozenset({"true", "1", "yes", "y", "t"})


@dataclass(frozen=True, slots=True)
class Call:
    """What the bot asked for, and when that arrived."""

    method: str
    parameters: Mapping[str, Any] = field(repr=False)
    at_ms: int
    """Monotonic."""

    def text(self, name: str) -> str:
        """A parameter as it is; empty where it is missing."""
        value = self.parameters.get(name)
        return value if isinstance(value, str) else "" if value is None else json.dumps(value)

    def number(self, name: str, default: int = 0) -> int:
        """A whole number.

        Raises:
            Refused: it is none.
        """
        value = self.parameters.get(name)
        if value is None or value == "":
            return default
        try:
            return int(value)
        except (TypeError, ValueError):
            raise bad_request(f"{name} is not a valid Integer") from None

    def flag(self, name: str) -> bool:
        """Whether it is set."""
        return self.text(name).lower() in _TRUE

    def value(self, name: str) -> Any:
        """What may be JSON inside of a form.

        Raises:
            Refused: it is none.
        """
        value = self.parameters.get(name)
        if not isinstance(value, str) or not value:
            return value or None
        try:
            return json.loads(value)
        except ValueError:
            raise bad_request(f"can't parse {name} JSON object") from None

    def record(self, name: str) -> Json | None:
        """A JSON object, or None where it is missing.

        Raises:
            Refused: it is something else.
        """
        value = self.value(name)
        if value is not None and not isinstance(value, dict):
            raise bad_request(f"object expected as {name}")
        return cast("Json | None", value)

    @property
    def chat_id(self) -> ChatId | None:
        """The chat that it names by number."""
        try:
            return ChatId(self.number("chat_id")) or None
        except Exception:  # noqa: BLE001 - a name, or nonsense: whoever needs it complains
            return None
