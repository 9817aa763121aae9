"""What a handler is given: the game, by its type. Nothing is kept in the library's dictionaries."""

from __future__ import annotations

from typing import Any, Final, cast

from telegram.error import NetworkError
from telegram.ext import Application, CallbackContext, ExtBot

from bot.budget import Budget, Called, Limiter, Permit
from engine.game.service import Game

Nothing = dict[Any, Any]

_GRACE_S: Final = 10
"""How much later than its long poll an answer of Telegram may come."""


class TelegramBot(ExtBot[Permit]):
    """The library's bot on a budget, which also gives updates as they came, so that one nobody can read stands alone.

    Args:
        token: as BotFather gave it.
        budget: bounds what it calls.
        called: is told of each call.
        kwargs: as the library's bot.
    """

    def __init__(self, token: str, *, budget: Budget, called: Called | None = None, **kwargs: Any) -> None:
        super().__init__(token, rate_limiter=Limiter(budget, called=called), **kwargs)
        with self._unfrozen():
            self.budget = budget

    def __repr__(self) -> str:
        """Without the token, which the library's own would show."""
        return "TelegramBot(...)"

    async def raw_updates(self, offset: int | None, timeout_s: int, allowed: tuple[str, ...]) -> list[dict[str, Any]]:
        """``getUpdates``, unparsed. Blocks up to ``timeout_s`` (0: answers at once).

        Args:
            offset: confirms every update with a smaller id; None confirms nothing.
            timeout_s: how long Telegram may wait for a first update.
            allowed: the kinds of updates to send from now on.

        Raises:
            TelegramError: as every method of the bot; also where the answer is no list of updates.
        """
        data = {"offset": offset, "timeout": timeout_s, "limit": 100, "allowed_updates": list(allowed)}
        answer = await self._post("getUpdates", data, read_timeout=timeout_s + _GRACE_S)
        if not isinstance(answer, list) or not all(map(_is_update, answer)):
            # Whoever stands before Telegram made it up: without a number, nothing of it can be confirmed.
            raise NetworkError("getUpdates answered something that is no list of updates")
        return cast("list[dict[str, Any]]", answer)


def _is_update(raw: object) -> bool:
    number = raw.get("update_id") if isinstance(raw, dict) else None
    return isinstance(number, int) and not isinstance(number, bool)


class GameApplication(Application[TelegramBot, "Context", Nothing, Nothing, Nothing, None]):
    """The library's application, holding the game that its handlers speak to."""

    def __init__(self, *, game: Game, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.game = game


class Context(CallbackContext[TelegramBot, Nothing, Nothing, Nothing]):
    """The context of one update."""

    def __init__(self, application: GameApplication, chat_id: int | None = None, user_id: int | None = None) -> None:
        super().__init__(application, chat_id, user_id)
        self.game = application.game

    @property
    def words(self) -> tuple[str, ...]:
        """What followed the command, cut at whitespace."""
        return tuple(self.args or ())
