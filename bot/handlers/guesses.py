"""Guesses: a plain message of emoji, or what follows ``/g``."""

from __future__ import annotations

from telegram import Message, Update

from bot.context import Context
from bot.handlers.incoming import request_of
from bot.receipts import leave
from engine.game.request import Receipt


async def guess_plainly(update: Update, context: Context) -> None:
    """Take a message without a command; the game passes over chatter."""
    message = update.message
    await _guess(message, (message and message.text) or "", context, explicit=False)


async def guess(update: Update, context: Context) -> None:
    """Take what follows ``/g``, with or without a space between them."""
    message = update.message
    said = ""
    if message is not None and message.text:
        said = message.text.removeprefix(message.parse_entity(message.entities[0]))
    await _guess(message, said, context, explicit=True)


async def _guess(message: Message | None, text: str, context: Context, *, explicit: bool) -> None:
    request = request_of(message) if message is not None else None
    if request is None:
        leave(Receipt.REFUSED)
    else:
        leave(await context.game.guesses.guess(request, text, explicit=explicit))
