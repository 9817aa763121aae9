"""Toasts for whoever pressed a button."""

from __future__ import annotations

from typing import Final

from bot.entities import units
from bot.fake_telegram.calls import Call
from bot.fake_telegram.clock import monotonic_ms
from bot.fake_telegram.desk import Desk
from bot.fake_telegram.errors import bad_request
from bot.fake_telegram.judge import Wrong
from bot.fake_telegram.ledger import Shown

_LONGEST: Final = 200


async def answer_callback_query(desk: Desk, call: Call) -> bool:
    """``answerCallbackQuery``; it costs nothing of the budget."""
    toast = call.text("text")
    if units(toast) > _LONGEST:
        desk.judge.note(Wrong.TOO_BIG, call, f"a toast of {units(toast)}")
        raise bad_request("MESSAGE_TOO_LONG")
    press = desk.presses.answer(call.text("callback_query_id"), toast, monotonic_ms())
    desk.ledger.show(Shown.TOAST, press.message, call, toast)
    return True
