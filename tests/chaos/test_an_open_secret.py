"""An open round's secret is looked for in all that a whole game leaves: chats, views, logs, jobs, rows, the console."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from bot.embedded import EmbeddedValkey
from bot.terminal.keyboard import Keyboard
from engine.game.themes import theme
from tests.cli.program import codemojex, started
from tests.cli.test_serve import Hall

THEME: Final = "fruits"
VIEWS: Final = ("/board", "/me", "/rules", "/help", "/start", f"/newgame {THEME}", "/limit 2", "/g secret", "/pause",
                "/board", "/me", "/resume", "/board")  # fmt: skip
CONSOLE: Final = (("status",), ("status", "--json"), ("dead",))
BESIDE_ROUNDS: Final = ("chats", "rooms", "players", "guesses", "standings", "memberships", "inbox", "aside", "outbox")
"""Every table but the one that keeps the secret."""


@dataclass(frozen=True)
class Secret:
    """A round's secret and nonce, in every spelling that could give them away."""

    codes: tuple[str, ...]
    nonce: str

    @classmethod
    def kept_in(cls, database: Path) -> Secret:
        with closing(sqlite3.connect(database)) as connection:
            ((codes, nonce),) = connection.execute("SELECT secret, nonce FROM rounds").fetchall()
        return cls(tuple(codes.split()), nonce)

    @property
    def emoji(self) -> list[str]:
        return [theme(THEME).emoji_of(code) for code in self.codes]

    def spellings(self) -> Iterator[bytes]:
        for words in (list(self.codes), self.emoji, self.emoji[::-1]):
            for between in ("", " ", ",", ", ", "\x1e", '", "', '","', "', '", "\n"):
                yield between.join(words).encode()
            yield json.dumps(words).encode()[1:-1]
        yield from (self.nonce.encode(), self.nonce.upper().encode(), bytes.fromhex(self.nonce))

    def seen_in(self, what: str | bytes) -> list[bytes]:
        data = what.encode() if isinstance(what, str) else what
        return [spelling for spelling in self.spellings() if spelling in data]


def every_row_beside_rounds(database: Path) -> str:
    with closing(sqlite3.connect(database)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert tables >= {*BESIDE_ROUNDS}
        unread = tables - {"rounds"}
        return "\n".join(
            repr(row)
            for table in sorted(unread)
            for row in connection.execute(f"SELECT * FROM {table}")  # noqa: S608 - the database's own names
        )


def every_command_to(server: EmbeddedValkey) -> bytes:
    """The append-only file: each job that ever was, also those that are gone."""
    return b"".join(file.read_bytes() for file in sorted((server.data_dir / "valkey" / "appendonlydir").iterdir()))


def chats_of(hall: Hall) -> str:
    return "\n".join(f"{entry.text} {dict(entry.call.parameters)}" for entry in hall.telegram.ledger.entries)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "codemojex.sqlite"


async def test_nobody_sees_the_secret_of_an_open_round_anywhere(tmp_path: Path, database: Path) -> None:
    with EmbeddedValkey(tmp_path / "data") as server:
        async with Hall().open() as hall:
            shared = hall.environment(
                REDIS_URL=server.url, DATABASE_URL=f"sqlite:///{database}", CODEMOJEX_LOG_LEVEL="debug"
            )
            assert (await codemojex(tmp_path, "migrate", **shared)).code == 0
            async with started(tmp_path, "bot", **shared) as bot, started(tmp_path, "worker", **shared) as worker:
                hall.say(hall.ana, f"/newgame {THEME} 10")
                keyboard = Keyboard.seen_in(await hall.told("Round 1"))
                assert keyboard is not None
                secret = Secret.kept_in(database)
                near = [secret.emoji[1], secret.emoji[0], *secret.emoji[2:]]
                for guess in (keyboard.emoji[:6], keyboard.emoji[6:12], near):
                    hall.say(hall.ben, "".join(guess))
                await hall.told("560 / 600")
                for view in VIEWS:
                    hall.say(hall.ana, view)
                await hall.telegram.pending.emptied()
                await hall.told("On we go!")
                hall.say(hall.ben, "/me")
                await hall.told("This round: 1st of 1")
                for command in CONSOLE:
                    done = await codemojex(tmp_path, "lanes", *command, **shared)
                    assert done.code == 0, done
                    assert secret.seen_in(done.out + done.err) == []
                jobs = every_command_to(server)
                assert b"".join(theme(THEME).code(one).encode() for one in near) in jobs, "what players guess is there"
                for place in (chats_of(hall), every_row_beside_rounds(database), jobs, bot.out, worker.out):
                    assert place
                    assert secret.seen_in(place) == []
                hall.say(hall.ben, "".join(secret.emoji))
                revealed = await hall.told("The secret was")
                assert secret.seen_in(revealed), "what is looked for is found once it is told"
            for log in (bot.out + bot.err, worker.out + worker.err):
                assert '"level": "debug"' in log
                assert secret.seen_in(log) == []
