"""What every handler has in common: it gets a request, and it leaves a receipt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from telegram import Update

from bot.context import Context
from bot.handlers.incoming import is_admin, request_of
from bot.receipts import leave
from engine.game.notices import Refusal, Refused
from engine.game.request import Receipt, Request

Answering = Callable[[Request, Context], Awaitable[Receipt]]
Callback = Callable[[Update, Context], Coroutine[Any, Any, None]]


def for_everyone(answer: Answering) -> Callback:
    """A callback that answers a person's message and leaves the receipt; what no person said is passed over."""

    async def callback(update: Update, context: Context) -> None:
        request = request_of(update.message) if update.message else None
        leave(Receipt.REFUSED if request is None else await answer(request, context))

    return callback


def for_admins(answer: Answering) -> Callback:
    """The same for an admin's command; anybody else is told so.

    Where Telegram couldn't be asked who is an admin, no receipt is left.
    """

    async def callback(update: Update, context: Context) -> None:
        message = update.message
        request = request_of(message) if message else None
        if message is None or request is None:
            leave(Receipt.REFUSED)
        elif await is_admin(context.bot, request, message.chat):
            leave(await answer(request, context))
        else:
            leave(await context.game.world.refuse(request, Refused(Refusal.NOT_ADMIN)))

    return callback
