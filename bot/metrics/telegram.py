"""How it goes with Telegram: calls, the budget of them, and the messages that chats are owed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, assert_never

from prometheus_client.core import Metric
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
)

from bot.budget import Budget, Chat, Permit, Wait
from bot.metrics.instruments import Counts, Spread
from engine.game.ports import OutboxItem
from engine.workers.ports import Delivered, Messenger, Moved, Told, TryLater, Unreachable

_SEND_MESSAGE: Final = "sendMessage"
_SAY_S: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_REFUSED: Final = (BadRequest, ChatMigrated, Conflict, Forbidden, InvalidToken)
_GRANTED: Final = "granted"
_FOR_CHAT: Final = "chat"
_FOR_EVERYONE: Final = "everyone"


class TelegramMeter:
    """Counts calls, asks of the budget, and messages."""

    def __init__(self) -> None:
        self._calls = Counts(
            "codemojex_telegram_calls",
            "Calls by method and outcome: ok, flood (a 429), refused, network, or failed.",
            ("method", "outcome"),
            [(_SEND_MESSAGE, outcome) for outcome in ("ok", "flood", "refused", "network")],
        )
        self._seconds = Spread("codemojex_telegram_send_seconds", "How long sendMessage took, in seconds.", _SAY_S)
        self._asks = Counts(
            "codemojex_telegram_budget_asks",
            "Asks for one message: granted, or told to wait for the chat's or for everyone's sake.",
            ("answer",),
            [(_GRANTED,), (_FOR_CHAT,), (_FOR_EVERYONE,)],
        )
        self._waits = Counts(
            "codemojex_telegram_budget_wait_seconds",
            "How long those that were told to wait were told to, in seconds.",
            ("answer",),
            [(_FOR_CHAT,), (_FOR_EVERYONE,)],
        )
        self._messages = Counts(
            "codemojex_messages",
            "Tries of saying what one chat is owed: said, put_off, moved, unreachable, or failed (a bug).",
            ("outcome",),
            [(outcome,) for outcome in ("said", "put_off", "moved", "unreachable", "failed")],
        )
        self._notices = Counts("codemojex_notices_said", "Notices that were said; a message may say many.")

    def called(self, method: str, error: Exception | None, took_ms: float) -> None:
        """A call to Telegram was made, and ended so."""
        self._calls.add(method, _outcome(error))
        if method == _SEND_MESSAGE:
            self._seconds.add(took_ms / 1_000)

    def asked(self, answer: Permit | Wait) -> None:
        """The budget was asked for one message."""
        if isinstance(answer, Permit):
            self._asks.add(_GRANTED)
            return
        whose = _FOR_EVERYONE if answer.everyone else _FOR_CHAT
        self._asks.add(whose)
        self._waits.add(whose, by=answer.wait_ms / 1_000)

    def delivered(self, delivered: Delivered | None) -> None:
        """A message was tried; None where it could not be put into words."""
        match delivered:
            case Told(count):
                self._messages.add("said")
                self._notices.add(by=count)
            case TryLater():
                self._messages.add("put_off")
            case Moved():
                self._messages.add("moved")
            case Unreachable():
                self._messages.add("unreachable")
            case None:
                self._messages.add("failed")
            case _:
                assert_never(delivered)

    def families(self) -> Iterator[Metric]:
        """See `Meter`."""
        for each in (self._calls, self._seconds, self._asks, self._waits, self._messages, self._notices):
            yield each.family()


class MeteredBudget:
    """A ``Budget`` whose answers are counted; calls that nobody sees are not, as they cost nothing."""

    def __init__(self, budget: Budget, meter: TelegramMeter) -> None:
        self._budget = budget
        self._meter = meter

    async def take(self, chat: Chat | None, *, counted: bool = True) -> Permit | Wait:
        """As ``Budget.take``."""
        answer = await self._budget.take(chat, counted=counted)
        if counted:
            self._meter.asked(answer)
        return answer

    async def hold(self, chat: Chat | None, ms: int) -> None:
        """As ``Budget.hold``."""
        await self._budget.hold(chat, ms)


class MeteredMessenger:
    """A ``Messenger`` whose outcomes are counted."""

    def __init__(self, messenger: Messenger, meter: TelegramMeter) -> None:
        self._messenger = messenger
        self._meter = meter

    async def say(self, items: Sequence[OutboxItem]) -> Delivered:
        """As ``Messenger.say``."""
        try:
            delivered = await self._messenger.say(items)
        except Exception:
            self._meter.delivered(None)
            raise
        self._meter.delivered(delivered)
        return delivered


def _outcome(error: Exception | None) -> str:
    if error is None:
        return "ok"
    if isinstance(error, RetryAfter):
        return "flood"
    if isinstance(error, _REFUSED):  # asked first: a BadRequest is a NetworkError, too
        return "refused"
    return "network" if isinstance(error, NetworkError) else "failed"
