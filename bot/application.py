"""The library's Application with every handler of the bot, and nothing else of the library's machinery.

No updater, job queue, persistence or conversations: the intake is ours, and what must last lasts in SQL and lanes.
"""

from __future__ import annotations

from typing import cast

import structlog
from telegram import BotCommand, Update
from telegram.error import TelegramError
from telegram.ext import ApplicationBuilder, ContextTypes
from telegram.request import BaseRequest

from bot import events
from bot.apology import Apology
from bot.budget import Budget, Called
from bot.context import Context, GameApplication, TelegramBot
from bot.handlers import handlers
from bot.outages import is_outage
from bot.receipts import leave_error
from bot.settings import REPLICAS
from bot.texts import COMMAND_MENU
from engine.game.service import Game
from engine.lanes import NotReplicated

_API = "https://api.telegram.org/bot"

_log = structlog.get_logger(__name__)


def build_bot(
    token: str,
    *,
    budget: Budget,
    request: BaseRequest | None = None,
    get_updates_request: BaseRequest | None = None,
    base_url: str = _API,
    called: Called | None = None,
) -> TelegramBot:
    """The bot, not yet initialized; nothing is sent.

    Args:
        token: as BotFather gave it.
        budget: bounds what it calls.
        request: the transport of everything but long polls; None: HTTP.
        get_updates_request: the transport of long polls; None: HTTP.
        base_url: where the Bot API is, up to the token.
        called: is told of each call.
    """
    return TelegramBot(
        token,
        budget=budget,
        called=called,
        base_url=base_url,
        request=request,
        get_updates_request=get_updates_request,
    )


def build_application(bot: TelegramBot, game: Game, *, apology: Apology | None = None) -> GameApplication:
    """The application of ``bot``, not yet initialized: every handler is registered and speaks to ``game``.

    Args:
        bot: of ``build_bot``.
        game: what handlers speak to.
        apology: what chats are told while servers are away.
    """
    builder = (
        ApplicationBuilder()
        .application_class(GameApplication, {"game": game})
        .bot(bot)
        .updater(None)
        .job_queue(None)
        .context_types(ContextTypes(context=Context))
        .concurrent_updates(False)
    )
    application = cast("GameApplication", builder.build())
    application.add_handlers(handlers())
    application.add_error_handler(_Failures(apology or Apology()).note)
    return application


async def publish_menu(bot: TelegramBot) -> None:
    """Give Telegram the list of commands that clients offer. A courtesy: failing it is logged, and stops nothing."""
    try:
        await bot.set_my_commands([BotCommand(name, description) for name, description in COMMAND_MENU])
    except TelegramError as error:
        _log.warning(events.MENU_FAILED, error=type(error).__name__)


class _Failures:
    """Notes what handlers raise, and apologises where it is a server's fault."""

    def __init__(self, apology: Apology) -> None:
        self._apology = apology

    async def note(self, update: object, context: Context) -> None:
        error = context.error
        if error is None:
            return
        leave_error(error)
        update_id = getattr(update, "update_id", None)
        if not is_outage(error):
            _log.error(events.UPDATE_FAILED, update_id=update_id, error=type(error).__name__, exc_info=error)
            return
        _log.warning(events.UPDATE_FAILED, update_id=update_id, error=type(error).__name__, **_counts(error))
        if isinstance(update, Update) and update.message is not None and not isinstance(error, TelegramError):
            await self._apology.make(context.bot, update.message)


def _counts(error: Exception) -> dict[str, str | int]:
    """Which setting asks for more replicas than have a guess, so that it is not received."""
    if not isinstance(error, NotReplicated):
        return {}
    return {"setting": REPLICAS, "wanted": error.wanted, "have": error.have}
