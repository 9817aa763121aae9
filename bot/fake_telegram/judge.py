"""What a bot must never do. Each breach is the failure of the test that caused it, whatever the bot was answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from bot.fake_telegram.calls import Call
from bot.fake_telegram.world import ChatId


class Wrong(StrEnum):
    """What was wrong."""

    WRONG_CHAT = "a reply to a message of another chat"
    GENERAL_THREAD = "thread 1, which is no address"
    BAD_MARKUP = "markup that does not parse"
    TOO_BIG = "more than a message, a toast or a keyboard holds"
    TOO_MUCH = "more than Telegram bears"
    HALTED = "a call while a 429 holds the chat"
    GONE = "a call to a chat that had said the bot is out"
    UNKNOWN_METHOD = "a method that does not exist"
    BAD_TOKEN = "a token that is not the bot's"  # noqa: S105 - says what is wrong


@dataclass(frozen=True, slots=True)
class Breach:
    """What was done, where, and why that is wrong."""

    wrong: Wrong
    call: Call
    why: str

    @property
    def chat_id(self) -> ChatId | None:
        """Where."""
        return self.call.chat_id

    def __str__(self) -> str:
        return f"{self.call.method} to chat {self.chat_id} at {self.call.at_ms} ms: {self.wrong.value}: {self.why}"


@dataclass(slots=True)
class Judge:
    """Keeps the breaches."""

    breaches: list[Breach] = field(default_factory=list)

    def note(self, wrong: Wrong, call: Call, why: str) -> None:
        """A breach."""
        self.breaches.append(Breach(wrong, call, why))

    def found(self, *wrongs: Wrong) -> list[Breach]:
        """The breaches of these kinds."""
        return [breach for breach in self.breaches if breach.wrong in wrongs]

    def assert_clean(self, *but: Wrong) -> None:
        """Fail where there is any breach, ``but`` of these kinds.

        Raises:
            AssertionError: it lists them.
        """
        left = [str(breach) for breach in self.breaches if breach.wrong not in but]
        if left:
            raise AssertionError(f"{len(left)} breaches of what Telegram bears:\n" + "\n".join(left))
