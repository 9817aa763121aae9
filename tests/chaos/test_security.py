"""Who may do what, asked through Telegram itself of the product's own process."""

from __future__ import annotations

import signal
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx

from bot.handlers import ALLOWED_UPDATES
from bot.web.webhook import SECRET_HEADER
from tests.cli.program import started
from tests.cli.test_serve import Hall
from tests.cli.test_serve_webhook import PostingHall, port_of
from tests.waiting import wait_until


def rows(database: Path, table: str) -> list[dict[str, Any]]:
    """All of a table; whether a notice is marked as said is left out, as that happens when it happens."""
    with closing(sqlite3.connect(database)) as connection:
        connection.row_factory = sqlite3.Row
        found = [dict(row) for row in connection.execute(f"SELECT * FROM {table}")]  # noqa: S608 - our own name
    return [{name: value for name, value in row.items() if name != "sent_ms"} for row in found]


@asynccontextmanager
async def running_by_webhook(home: Path) -> AsyncIterator[tuple[PostingHall, Path]]:
    """``up`` that takes posts, with a round begun; and its database."""
    async with PostingHall().open() as hall, started(home, "up", **hall.hooked()) as running:
        hall.door.ports = [await port_of(running)]
        await running.said("ready")
        await hall.play_a_guess()
        yield hall, home / ".data" / "telegram" / "codemojex.sqlite"
        running.send(signal.SIGTERM)
        assert (await running.done()).code == 0


async def test_forged_callback_data_does_nothing(tmp_path: Path) -> None:
    """The product has no buttons yet, so every press is forged: it asks for none, and passes over any it gets."""
    assert "callback_query" not in ALLOWED_UPDATES
    async with running_by_webhook(tmp_path) as (hall, database):
        before = {table: rows(database, table) for table in ("rooms", "rounds", "guesses", "outbox", "aside")}
        shown = len(hall.telegram.ledger.entries)
        async with httpx.AsyncClient() as telegram:
            for number, data in enumerate(("pause", "ROM00000000000", "🍎" * 6, "\x00", "x" * 64, "../../settle")):
                press = {
                    "id": str(4_382_000_000_000_000_000 + number),
                    "from": {"id": 6_600_000_000, "is_bot": False, "first_name": "Mallory"},
                    "chat_instance": "1",
                    "data": data,
                    "message": {"message_id": 5, "date": 0, "chat": {"id": hall.room.id, "type": "supergroup"}},
                }
                answer = await telegram.post(
                    hall.door.url,
                    json={"update_id": 900_000_000 + number, "callback_query": press},
                    headers={SECRET_HEADER.decode(): hall.secret},
                )
                assert answer.status_code == 200
        hall.say(hall.ana, "/rules")
        await hall.told("The rules")
        for table, was in before.items():
            new = [row for row in rows(database, table) if row not in was]
            assert [row for row in new if row.get("kind") != "page_shown"] == [], table
        assert len(hall.telegram.ledger.entries) == shown + 1


async def test_an_admin_who_was_demoted_commands_nothing_any_more(tmp_path: Path) -> None:
    async with running_by_webhook(tmp_path) as (hall, database):
        hall.telegram.membership.promote(hall.ben, hall.room, hall.ana)
        hall.say(hall.ben, "/pause")
        await hall.told("Paused.")
        hall.say(hall.ben, "/resume")
        await hall.told("On we go!")
        hall.telegram.membership.demote(hall.ben, hall.room, hall.ana)
        (was,) = rows(database, "rooms")
        for command in ("/pause", "/limit 1", "/endgame", "/resume"):
            hall.say(hall.ben, command)
        await hall.telegram.pending.emptied()
        await wait_until(lambda: _refusals(hall) == 4, "each of them is refused", 30_000)
        assert rows(database, "rooms") == [was]
        assert [row["state"] for row in rows(database, "rounds")] == ["open"]


def _refusals(hall: Hall) -> int:
    return sum(text.count("Only this chat's admins") for text in hall.telegram.ledger.texts(hall.room))
