"""What the webhook's benchmark posts: guesses of many players in many chats, as Telegram words them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any, Final

from engine.game.draw import SeededDraw
from engine.game.themes import THEMES

TOKEN: Final = "4242:benchmark-token-that-opens-nothing-at-all"  # noqa: S105 - of no bot
SECRET: Final = "benchmark"  # noqa: S105 - between two processes of one run
PATH: Final = "/telegram"
SEED: Final = 7
_MOST_CHATS: Final = 200
_GUESSES_A_CHAT: Final = 20
PLAYERS: Final = 5
_THEME: Final = next(iter(THEMES.values()))
_FIRST_CHAT: Final = -1_001_000_000_000


def chats(count: int) -> int:
    """In how many chats ``count`` guesses are made."""
    return max(1, min(_MOST_CHATS, count // _GUESSES_A_CHAT))


def newgame(chat: int) -> dict[str, Any]:
    """The update that opens the round of a chat, by its number from 0."""
    text = f"/newgame {_THEME.name} 60"
    entities = [{"type": "bot_command", "offset": 0, "length": 8}]
    return _update(chat, chat, 0, text, entities=entities)


def guesses(count: int, first: int, among: int) -> Iterator[dict[str, Any]]:
    """``count`` updates of ``among`` chats that take turns, with message ids from ``first`` on; none is the secret."""
    chance = random.Random(first)  # noqa: S311 - a repeatable load
    drawn = SeededDraw(SEED).draw(_THEME, 1)
    for number in range(first, first + count):
        codes = tuple(chance.sample(drawn.keyboard, 6))
        if codes == drawn.secret:
            codes = codes[::-1]
        yield _update(number, number % among, number // among % PLAYERS, _THEME.show(codes))


def request(update: dict[str, Any]) -> bytes:
    """The update as an HTTP request."""
    body = json.dumps(update, ensure_ascii=False).encode()
    head = (
        f"POST {PATH} HTTP/1.1\r\nHost: bot\r\nContent-Type: application/json\r\n"
        f"X-Telegram-Bot-Api-Secret-Token: {SECRET}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _update(number: int, chat: int, player: int, text: str, **fields: Any) -> dict[str, Any]:
    account = 1_000_000 + chat * PLAYERS + player
    return {
        "update_id": 500_000_000 + number,
        "message": {
            "message_id": 1 + number,
            "from": {
                "id": account,
                "is_bot": False,
                "first_name": f"Player {player}",
                "username": f"player_{account}",
                "language_code": "en",
            },
            "chat": {"id": _FIRST_CHAT - chat, "title": f"Room {chat}", "type": "supergroup"},
            "date": 1_790_000_000,
            "text": text,
            **fields,
        },
    }
