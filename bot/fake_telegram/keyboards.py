"""Keyboards under messages, as strictly as Telegram takes them."""

from __future__ import annotations

from typing import Any, Final

from bot.fake_telegram.calls import Call
from bot.fake_telegram.errors import bad_request
from bot.fake_telegram.judge import Judge, Wrong
from bot.fake_telegram.messages import Json

_INLINE: Final = "inline_keyboard"
_MOST_IN_A_ROW: Final = 8
_MOST: Final = 100
_MOST_BYTES: Final = 64
_ACTIONS: Final = frozenset({
    "callback_data",
    "url",
    "web_app",
    "login_url",
    "switch_inline_query",
    "switch_inline_query_current_chat",
    "switch_inline_query_chosen_chat",
    "copy_text",
    "callback_game",
    "pay",
})  # fmt: skip


def read_keyboard(call: Call, judge: Judge) -> Json | None:
    """The inline keyboard that ``call`` asks for; None: none, or another kind of markup, which nobody sees in a chat.

    Raises:
        Refused: Telegram would not take it.
    """
    markup = call.record("reply_markup")
    if markup is None or _INLINE not in markup:
        return None
    rows = markup[_INLINE]
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise bad_request("can't parse inline keyboard: field must be an Array of Arrays")
    if any(len(row) > _MOST_IN_A_ROW for row in rows) or sum(map(len, rows)) > _MOST:
        judge.note(Wrong.TOO_BIG, call, f"a keyboard of {[len(row) for row in rows]} buttons")
        raise bad_request("reply markup is too long")
    for row in rows:
        for button in row:
            _check(button, call, judge)
    kept = [row for row in rows if row]
    return {_INLINE: kept} if kept else None


def _check(button: Any, call: Call, judge: Judge) -> None:
    if not isinstance(button, dict) or not str(button.get("text", "")).strip():
        raise bad_request("can't parse inline keyboard button: text buttons must have a text")
    if not _ACTIONS & button.keys():
        raise bad_request("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
    data = button.get("callback_data")
    if data is not None and not 1 <= len(str(data).encode()) <= _MOST_BYTES:
        judge.note(Wrong.TOO_BIG, call, f"{len(str(data).encode())} bytes of callback data")
        raise bad_request("BUTTON_DATA_INVALID")
