"""``up``, ``bot`` and ``worker`` against a Bot API over HTTP."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.fake_telegram import NO_LIMITS, TOKEN, FakeTelegram, User
from bot.terminal.keyboard import Keyboard
from tests.cli.program import codemojex, started
from tests.waiting import wait_until


class Hall:
    """One group chat of Ana's, on a Telegram that bears any pace."""

    def __init__(self) -> None:
        self.telegram = FakeTelegram(limits=NO_LIMITS)
        self.ana, self.ben = self.telegram.world.user("Ana"), self.telegram.world.user("Ben")
        self.room = self.telegram.world.supergroup("Over HTTP", self.ana, [self.ben])

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Hall]:
        async with self.telegram.serving():
            yield self
        self.telegram.assert_clean()

    def environment(self, **more: str) -> dict[str, str]:
        api = self.telegram.url
        return {"CODEMOJEX_GROUP_COOLDOWN_MS": "50", "CODEMOJEX_TELEGRAM_API": api, "TELEGRAM_TOKEN": TOKEN} | more

    def say(self, user: User, text: str) -> None:
        self.telegram.crowd.say(user, self.room, text)

    async def told(self, words: str, times: int = 1) -> str:
        def found() -> list[str]:
            return [text for text in self.telegram.ledger.texts(self.room) if words in text]

        await wait_until(lambda: len(found()) >= times, f"the chat is told {words!r} {times}x", 60_000)
        return found()[-1]

    async def play_a_guess(self) -> None:
        self.say(self.ana, "/newgame fruits 10")
        keyboard = Keyboard.seen_in(await self.told("Round 1"))
        assert keyboard is not None
        self.say(self.ben, "".join(keyboard.emoji[:6]))
        await self.told(" / 600 (")


async def test_up_plays_a_round_and_stops_gracefully(tmp_path: Path) -> None:
    async with Hall().open() as hall, started(tmp_path, "up", **hall.environment()) as running:
        await running.said("@codemojex_bot and ready")
        assert str(tmp_path / ".data" / "telegram") in running.out
        await hall.play_a_guess()
        running.send(signal.SIGTERM)
        done = await running.done()
    assert done.code == 0
    assert "has stopped" in done.out
    assert TOKEN not in done.out + done.err
    assert "Traceback" not in done.err


async def test_up_goes_on_with_its_round_after_a_restart(tmp_path: Path) -> None:
    async with Hall().open() as hall:
        async with started(tmp_path, "up", **hall.environment()) as running:
            await running.said("ready")
            await hall.play_a_guess()
            running.send(signal.SIGINT)
            assert (await running.done()).code == 0
        hall.say(hall.ben, "/board")  # while nobody listens
        async with started(tmp_path, "up", **hall.environment()) as running:
            await hall.told("1 player · 1 guess")


async def test_bots_and_workers_apart_share_the_work_and_hand_polling_over(
    tmp_path: Path, redis_url: str, sqlite_url: str
) -> None:
    async with Hall().open() as hall:
        shared = hall.environment(REDIS_URL=redis_url, DATABASE_URL=sqlite_url)
        assert (await codemojex(tmp_path, "migrate", **shared)).code == 0
        async with (
            started(tmp_path, "worker", **shared) as worker,
            started(tmp_path, "worker", **shared) as other_worker,
            started(tmp_path, "bot", **shared) as bot,
        ):
            await hall.play_a_guess()
            async with started(tmp_path, "bot", **shared) as standing_by:
                await standing_by.said("ready")
                assert "polling_began" not in standing_by.err
                bot.send(signal.SIGTERM)
                assert (await bot.done()).code == 0
                hall.say(hall.ana, "/board")
                await hall.told("1 player · 1 guess")
                assert "polling_began" in standing_by.err
                for process in (standing_by, worker, other_worker):
                    process.send(signal.SIGTERM)
                    assert (await process.done()).code == 0


async def test_up_ends_with_its_embedded_server_and_says_so(tmp_path: Path) -> None:
    async with Hall().open() as hall, started(tmp_path, "up", **hall.environment()) as running:
        await running.said("ready")
        os.kill(server_pid(running.pid), signal.SIGKILL)
        done = await running.done()
    assert done.code == 1
    assert "the embedded Valkey ended" in done.err.splitlines()[-1]
    assert "Traceback" not in done.err


async def test_replicas_that_are_not_there_are_told_at_the_start_and_where_a_guess_waits_for_them(
    tmp_path: Path, redis_url: str
) -> None:
    environment = {"REDIS_URL": redis_url, "CODEMOJEX_REDIS_REPLICAS": "2"}
    async with Hall().open() as hall, started(tmp_path, "up", **hall.environment(**environment)) as running:
        await running.said("ready")
        hall.say(hall.ana, "/newgame fruits 10")
        keyboard = Keyboard.seen_in(await hall.told("Round 1"))
        assert keyboard is not None
        hall.say(hall.ben, "".join(keyboard.emoji[:6]))
        await wait_until(lambda: "NotReplicated" in running.err, "the guess is not received", 60_000)
        running.send(signal.SIGTERM)
        done = await running.done()
    lines = [json.loads(line) for line in done.err.splitlines()]
    (start,) = [line for line in lines if line["event"] == "too_few_replicas"]
    assert (start["setting"], start["wanted"], start["connected"]) == ("CODEMOJEX_REDIS_REPLICAS", 2, 0)
    failed = next(line for line in lines if line.get("error") == "NotReplicated")
    assert (failed["setting"], failed["wanted"], failed["have"]) == ("CODEMOJEX_REDIS_REPLICAS", 2, 0)


def server_pid(parent: int) -> int:
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    assert len(children) == 1, children
    return int(children[0])


async def test_up_waits_for_a_telegram_that_is_away(tmp_path: Path) -> None:
    away = {"CODEMOJEX_TELEGRAM_API": "http://127.0.0.1:1", "TELEGRAM_TOKEN": TOKEN}
    async with started(tmp_path, "up", **away) as running:
        await wait_until(lambda: "connecting_failed" in running.err, "it says that it can't connect", 60_000)
        running.send(signal.SIGTERM)
        done = await running.done()
    assert done.code == 0
    assert '"api": "http://127.0.0.1:1"' in done.err
    assert "correct CODEMOJEX_TELEGRAM_API" in done.err
    assert TOKEN not in done.err
