"""Rounds begin with ``/newgame [theme] [minutes]`` and end early with ``/endgame``."""

from __future__ import annotations

from bot.context import Context
from bot.handlers.numbers import whole
from engine.game.model import MAX_MINUTES
from engine.game.notices import Refusal, Refused
from engine.game.request import Receipt, Request


async def newgame(request: Request, context: Context) -> Receipt:
    """Open a round: both words may be left out, and a lone number is the minutes."""
    words = context.words
    if not words:
        return await context.game.rounds.open(request, None, None)
    last = whole(words[-1])
    if len(words) == 1:
        theme, minutes = (words[0], None) if last is None else (None, last)
        return await context.game.rounds.open(request, theme, minutes)
    if last is None or len(words) > 2:
        return await context.game.world.refuse(request, Refused(Refusal.BAD_MINUTES, wanted=MAX_MINUTES))
    return await context.game.rounds.open(request, words[0], last)


async def endgame(request: Request, context: Context) -> Receipt:
    """End the running round now."""
    return await context.game.rounds.end(request)
