"""Guesses: a plain message of emoji, or what follows ``/g``."""

from __future__ import annotations

from telegram import Update

from bot.context import Context
from bot.handlers.incoming import request_of
from bot.receipts import leave
from engine.game.request import Receipt, Request


async def guess_plainly(update: Update, context: Context) -> None:
    """Take a message without a command; the game passes over chatter."""
    message = update.message
    request = request_of(message) if message else None
    if message is None or request is None:
        leave(Receipt.REFUSED)
    else:
        leave(await context.game.guesses.guess(request, message.text or "", explicit=False))


async def guess(request: Request, context: Context) -> Receipt:
    """Take what follows ``/g``."""
    return await context.game.guesses.guess(request, " ".join(context.words), explicit=True)
