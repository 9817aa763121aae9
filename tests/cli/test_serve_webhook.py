"""``up``, ``bot`` and ``worker`` by webhook, and what they say of their health."""

from __future__ import annotations

import re
import signal
import socket
from pathlib import Path

import httpx

from tests.cli.posting_server import PostingServer
from tests.cli.program import Running, codemojex, started
from tests.cli.telegram_server import ANA, TOKEN
from tests.cli.test_serve import environment, play_a_guess, told
from tests.waiting import wait_until

URL = "http://bot.example.org/telegram"


def hooked(telegram: PostingServer, **more: str) -> dict[str, str]:
    return environment(telegram, CODEMOJEX_WEBHOOK_URL=URL, CODEMOJEX_LISTEN="127.0.0.1:0", **more)


async def port_of(running: Running) -> int:
    await wait_until(lambda: '"listening"' in running.err, "it listens", 60_000)
    found = re.search(r'"port": (\d+)', running.err)
    assert found is not None
    return int(found[1])


async def health(port: int, question: str) -> int:
    async with httpx.AsyncClient() as client:
        return (await client.get(f"http://127.0.0.1:{port}/health/{question}")).status_code


async def test_up_takes_posts_says_it_is_well_and_stops_gracefully(tmp_path: Path) -> None:
    async with PostingServer().posting() as telegram:
        async with started(tmp_path, "up", **hooked(telegram)) as running:
            telegram.ports = [await port_of(running)]
            await running.said("ready")
            await play_a_guess(telegram)
            assert telegram.polls == 0
            assert telegram.webhook["allowed_updates"] == '["message"]'
            assert [await health(telegram.ports[0], question) for question in ("ready", "live")] == [200, 200]
            running.send(signal.SIGTERM)
            done = await running.done()
        assert done.code == 0
        assert "has stopped" in done.out
        assert telegram.webhook["url"] == URL, "the next run goes on with it"
        secret = telegram.webhook["secret_token"]
        assert len(secret) == 64
        for shown in (done.out, done.err):
            assert secret not in shown
            assert TOKEN not in shown
            assert "Traceback" not in shown


async def test_two_bots_share_the_posts_and_one_may_end(tmp_path: Path, redis_url: str, sqlite_url: str) -> None:
    async with PostingServer().posting() as telegram:
        shared = hooked(telegram, REDIS_URL=redis_url, DATABASE_URL=sqlite_url)
        assert (await codemojex(tmp_path, "migrate", **shared)).code == 0
        async with (
            started(tmp_path, "worker", **shared) as worker,
            started(tmp_path, "bot", **shared) as bot,
            started(tmp_path, "bot", **shared) as other,
        ):
            telegram.ports = [await port_of(bot), await port_of(other)]
            await play_a_guess(telegram)
            assert telegram.told == 2
            assert await health(await port_of(worker), "ready") == 200
            bot.send(signal.SIGTERM)
            assert (await bot.done()).code == 0
            telegram.chat.post(ANA, "/board")
            await told(telegram, "1 player · 1 guess")
            for process in (other, worker):
                process.send(signal.SIGTERM)
                assert (await process.done()).code == 0


async def test_polling_takes_a_webhook_back(tmp_path: Path) -> None:
    async with PostingServer().posting() as telegram:
        async with started(tmp_path, "up", **environment(telegram)) as running:
            await running.said("ready")
            await play_a_guess(telegram)
        assert telegram.polls > 0


async def test_a_place_that_is_taken_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        async with PostingServer().posting() as telegram:
            done = await codemojex(tmp_path, "up", **hooked(telegram) | {"CODEMOJEX_LISTEN": place})
    assert done.code == 1
    assert f"cannot listen on {place}: address already in use" in done.err.splitlines()[-1]
    assert "CODEMOJEX_LISTEN" in done.err.splitlines()[-1]


async def test_a_webhook_without_a_place_to_listen_is_told_before_anything_starts(tmp_path: Path) -> None:
    async with PostingServer().posting() as telegram:
        done = await codemojex(tmp_path, "up", **hooked(telegram) | {"CODEMOJEX_LISTEN": ""})
    assert done.code == 2
    assert "CODEMOJEX_LISTEN" in done.line
    assert not (tmp_path / ".data").exists()
