"""Rounds and themes for tests: only what a test speaks of differs from the ordinary."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.game.commitment import commit
from engine.game.model import Round, RoundState
from engine.game.themes import Theme
from engine.ids import EmojiSetId, RoomId, RoundId

CODES = tuple(f"{index:02x}00" for index in range(16))
NONCE = "00112233445566778899aabbccddeeff"
PLAIN = "🍎 🍐 🍊 🍋 🍌 🍉 🍇 🍓 🍒 🍑 🍍 🥝 🥥 🥑 🍆 🥔"


def a_round(**changes: Any) -> Round:
    """An open round of ten minutes that began at 1,000 ms."""
    ordinary = Round(
        id=RoundId("GAM00000000001"),
        room=RoomId("ROM00000000001"),
        number=1,
        theme="fruits",
        keyboard=CODES,
        secret=CODES[:6],
        nonce=NONCE,
        commitment=commit(CODES[:6], NONCE),
        state=RoundState.OPEN,
        opened_ms=1_000,
        minutes=10,
        deadline_ms=601_000,
    )
    return replace(ordinary, **changes)


def a_theme(emoji: str = PLAIN, *, id_: str = "EMS0000000000z", name: str = "test") -> Theme:
    """A theme of the emoji in ``emoji``, which are parted by spaces."""
    return Theme(EmojiSetId(id_), name, "Test", tuple(emoji.split(" ")))
