"""``up``, ``bot`` and ``worker`` by webhook, and what they say of their health."""

from __future__ import annotations

import re
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from bot.fake_telegram import TOKEN
from bot.handlers import ALLOWED_UPDATES
from tests.cli.door import Door
from tests.cli.program import Running, codemojex, started
from tests.cli.test_serve import Hall
from tests.waiting import wait_until


class PostingHall(Hall):
    """A hall whose Telegram posts, to a door in front of all bots."""

    def __init__(self) -> None:
        super().__init__()
        self.door = Door()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[PostingHall]:
        async with self.door.open(), super().open():
            yield self

    def hooked(self, **more: str) -> dict[str, str]:
        return self.environment(CODEMOJEX_WEBHOOK_URL=self.door.url, CODEMOJEX_LISTEN="127.0.0.1:0", **more)

    @property
    def secret(self) -> str:
        hook = self.telegram.webhook.hook
        assert hook is not None
        return hook.secret


async def port_of(running: Running) -> int:
    await wait_until(lambda: '"listening"' in running.err, "it listens", 60_000)
    found = re.search(r'"port": (\d+)', running.err)
    assert found is not None
    return int(found[1])


async def health(port: int, question: str) -> int:
    async with httpx.AsyncClient() as client:
        return (await client.get(f"http://127.0.0.1:{port}/health/{question}")).status_code


async def test_up_takes_posts_says_it_is_well_and_stops_gracefully(tmp_path: Path) -> None:
    async with PostingHall().open() as hall:
        async with started(tmp_path, "up", **hall.hooked()) as running:
            port = await port_of(running)
            hall.door.ports = [port]
            await running.said("ready")
            await hall.play_a_guess()
            assert hall.telegram.ledger.count("getUpdates") == 0
            assert hall.telegram.webhook.info()["allowed_updates"] == list(ALLOWED_UPDATES)
            assert [await health(port, question) for question in ("ready", "live")] == [200, 200]
            running.send(signal.SIGTERM)
            done = await running.done()
        assert done.code == 0
        assert "has stopped" in done.out
        assert hall.telegram.webhook.info()["url"] == hall.door.url, "the next run goes on with it"
        assert len(hall.secret) == 64
        for shown in (done.out, done.err):
            assert hall.secret not in shown
            assert TOKEN not in shown
            assert "Traceback" not in shown


async def test_two_bots_share_the_posts_and_one_may_end(tmp_path: Path, redis_url: str, sqlite_url: str) -> None:
    async with PostingHall().open() as hall:
        shared = hall.hooked(REDIS_URL=redis_url, DATABASE_URL=sqlite_url)
        assert (await codemojex(tmp_path, "migrate", **shared)).code == 0
        async with (
            started(tmp_path, "worker", **shared) as worker,
            started(tmp_path, "bot", **shared) as bot,
            started(tmp_path, "bot", **shared) as other,
        ):
            hall.door.ports = [await port_of(bot), await port_of(other)]
            await hall.play_a_guess()
            await wait_until(lambda: hall.telegram.ledger.count("setWebhook") == 2, "both have told Telegram", 60_000)
            assert await health(await port_of(worker), "ready") == 200
            bot.send(signal.SIGTERM)
            assert (await bot.done()).code == 0
            hall.say(hall.ana, "/board")
            await hall.told("1 player · 1 guess")
            for process in (other, worker):
                process.send(signal.SIGTERM)
                assert (await process.done()).code == 0


async def test_polling_takes_a_webhook_back(tmp_path: Path) -> None:
    async with PostingHall().open() as hall:
        async with started(tmp_path, "up", **hall.hooked()) as running:
            hall.door.ports = [await port_of(running)]
            await running.said("ready")
        async with started(tmp_path, "up", **hall.environment()) as running:
            await running.said("ready")
            await hall.play_a_guess()
        assert hall.telegram.webhook.hook is None


async def test_a_place_that_is_taken_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        async with PostingHall().open() as hall:
            done = await codemojex(tmp_path, "up", **hall.hooked() | {"CODEMOJEX_LISTEN": place})
    assert done.code == 1
    assert f"cannot listen on {place}: address already in use" in done.err.splitlines()[-1]
    assert "CODEMOJEX_LISTEN" in done.err.splitlines()[-1]


async def test_a_webhook_without_a_place_to_listen_is_told_before_anything_starts(tmp_path: Path) -> None:
    async with PostingHall().open() as hall:
        done = await codemojex(tmp_path, "up", **hall.hooked() | {"CODEMOJEX_LISTEN": ""})
    assert done.code == 2
    assert "CODEMOJEX_LISTEN" in done.line
    assert not (tmp_path / ".data").exists()
