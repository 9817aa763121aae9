"""How the intake learns what became of an update.

``Application.process_update`` swallows what a handler raises, so its return says nothing. Whoever takes an update in
opens a slip for it with ``process``; a handler that came to its end leaves its receipt on the slip, the application's
error handler leaves the error. A slip with neither means that nothing took the update: it must not be acknowledged.

The slip rides in the context of the task that runs ``process``, so one update that arrives twice at once has two.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

from telegram import Update

from bot.context import GameApplication
from engine.game.request import Receipt


@dataclass(slots=True)
class Slip:
    """What became of one update so far: at most one of the two is set."""

    receipt: Receipt | None = None
    error: BaseException | None = None


_slip: ContextVar[Slip | None] = ContextVar("slip", default=None)


async def process(application: GameApplication, update: Update) -> Slip:
    """Run ``update`` through the application's handlers and say what became of it. Blocks as long as they do."""
    slip = Slip()
    token = _slip.set(slip)
    try:
        await application.process_update(update)
    finally:
        _slip.reset(token)
    return slip


def leave(receipt: Receipt) -> None:
    """Leave the receipt of the update being processed; outside ``process`` nobody waits for one."""
    slip = _slip.get()
    if slip is not None and slip.error is None:
        slip.receipt = receipt


def leave_error(error: BaseException) -> None:
    """Leave what a handler raised: the update was not taken, whatever another handler says of it."""
    slip = _slip.get()
    if slip is not None:
        slip.receipt, slip.error = None, error
