"""The levers of a chat's admins."""

from __future__ import annotations

from bot.context import Context
from bot.handlers.numbers import whole
from engine.game.notices import Refusal, Refused
from engine.game.request import Receipt, Request


async def pause(request: Request, context: Context) -> Receipt:
    """Stop taking guesses."""
    return await context.game.levers.pause(request)


async def resume(request: Request, context: Context) -> Receipt:
    """Take guesses again."""
    return await context.game.levers.resume(request)


async def limit(request: Request, context: Context) -> Receipt:
    """Set how many guesses of the room may be in flight at once."""
    words = context.words
    number = whole(words[0]) if len(words) == 1 else None
    if number is None:
        return await context.game.world.refuse(request, Refused(Refusal.BAD_LIMIT))
    return await context.game.levers.limit(request, number)
