"""What people ask to see."""

from __future__ import annotations

from bot.context import Context
from engine.game.notices import Page
from engine.game.request import Receipt, Request


async def start(request: Request, context: Context) -> Receipt:
    """Say hello."""
    return await context.game.views.page(request, Page.START)


async def help_(request: Request, context: Context) -> Receipt:
    """List the commands."""
    return await context.game.views.page(request, Page.HELP)


async def rules(request: Request, context: Context) -> Receipt:
    """Explain scoring and fairness."""
    return await context.game.views.page(request, Page.RULES)


async def board(request: Request, context: Context) -> Receipt:
    """Show the standings."""
    return await context.game.views.board(request)


async def me(request: Request, context: Context) -> Receipt:
    """Show the asker's own record."""
    return await context.game.views.me(request)
