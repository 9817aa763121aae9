"""``up``, ``bot`` and ``worker`` against a Bot API over HTTP."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from bot.terminal.keyboard import Keyboard
from tests.cli.program import codemojex, started
from tests.cli.telegram_server import ANA, BEN, TOKEN, TelegramServer
from tests.waiting import wait_until


def environment(telegram: TelegramServer, **more: str) -> dict[str, str]:
    brisk = {"CODEMOJEX_GROUP_COOLDOWN_MS": "50", "CODEMOJEX_TELEGRAM_API": telegram.url, "TELEGRAM_TOKEN": TOKEN}
    return brisk | more


async def told(telegram: TelegramServer, words: str, times: int = 1) -> str:
    await wait_until(lambda: telegram.count(words) >= times, f"the chat is told {words!r} {times}x", 60_000)
    return next(said for said in reversed(telegram.said) if words in said)


async def play_a_guess(telegram: TelegramServer) -> None:
    telegram.chat.post(ANA, "/newgame fruits 10")
    keyboard = Keyboard.seen_in(await told(telegram, "Round 1"))
    assert keyboard is not None
    telegram.chat.post(BEN, "".join(keyboard.emoji[:6]))
    await told(telegram, " / 600 (")


async def test_up_plays_a_round_and_stops_gracefully(tmp_path: Path) -> None:
    async with TelegramServer().serving() as telegram, started(tmp_path, "up", **environment(telegram)) as running:
        await running.said("@codemojex_bot and ready")
        assert str(tmp_path / ".data" / "telegram") in running.out
        await play_a_guess(telegram)
        running.send(signal.SIGTERM)
        done = await running.done()
    assert done.code == 0
    assert "has stopped" in done.out
    assert TOKEN not in done.out + done.err
    assert "Traceback" not in done.err


async def test_up_goes_on_with_its_round_after_a_restart(tmp_path: Path) -> None:
    async with TelegramServer().serving() as telegram:
        async with started(tmp_path, "up", **environment(telegram)) as running:
            await running.said("ready")
            await play_a_guess(telegram)
            running.send(signal.SIGINT)
            assert (await running.done()).code == 0
        telegram.chat.post(BEN, "/board")  # while nobody listens
        async with started(tmp_path, "up", **environment(telegram)) as running:
            await told(telegram, "1 player · 1 guess")


async def test_bots_and_workers_apart_share_the_work_and_hand_polling_over(
    tmp_path: Path, redis_url: str, sqlite_url: str
) -> None:
    async with TelegramServer().serving() as telegram:
        shared = environment(telegram, REDIS_URL=redis_url, DATABASE_URL=sqlite_url)
        assert (await codemojex(tmp_path, "migrate", **shared)).code == 0
        async with (
            started(tmp_path, "worker", **shared) as worker,
            started(tmp_path, "worker", **shared) as other_worker,
            started(tmp_path, "bot", **shared) as bot,
        ):
            await play_a_guess(telegram)
            async with started(tmp_path, "bot", **shared) as standing_by:
                await standing_by.said("ready")
                assert "polling_began" not in standing_by.err
                bot.send(signal.SIGTERM)
                assert (await bot.done()).code == 0
                telegram.chat.post(ANA, "/board")
                await told(telegram, "1 player · 1 guess")
                assert "polling_began" in standing_by.err
                for process in (standing_by, worker, other_worker):
                    process.send(signal.SIGTERM)
                    assert (await process.done()).code == 0


async def test_up_ends_with_its_embedded_server_and_says_so(tmp_path: Path) -> None:
    async with TelegramServer().serving() as telegram, started(tmp_path, "up", **environment(telegram)) as running:
        await running.said("ready")
        os.kill(server_pid(running.pid), signal.SIGKILL)
        done = await running.done()
    assert done.code == 1
    assert "the embedded Valkey ended" in done.err.splitlines()[-1]
    assert "Traceback" not in done.err


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
    assert TOKEN not in done.err
