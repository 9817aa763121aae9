"""Posts guesses to a bot of its own: ``python -m benchmarks.sides.post_guesses REDIS_URL DATABASE_URL GUESSES RATE``.

First as fast as the bot takes them over ``CONNECTIONS`` connections, then at ``RATE`` a second (0: half of what was
reached) whatever the answers do; a latency counts from when its post was due. Says how many guesses are on their lanes
in the end, and how long the library takes to read one post.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import uvloop
from telegram import Bot, Update

from benchmarks.posters import Connection, connect, flood
from benchmarks.posting import PLAYERS, TOKEN, chats, guesses, newgame, request
from benchmarks.process import ROOT, say
from bot.redis_server import open_redis
from engine.workers.adapters import Queues

_READ: Final = 3_000


async def main(redis_url: str, database_url: str, count: int, rate: float) -> None:
    bot = subprocess.Popen(  # noqa: ASYNC220, S603 - our own program
        [sys.executable, "-m", "benchmarks.sides.take_posts", redis_url, database_url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    with bot:
        assert bot.stdout is not None  # noqa: S101 - a pipe was asked for
        assert bot.stdin is not None  # noqa: S101 - a pipe was asked for
        port = json.loads(bot.stdout.readline())["port"]
        connections = await connect(port)
        among = chats(count)
        known = among * PLAYERS
        await flood(connections, [request(newgame(chat)) for chat in range(among)])
        await flood(connections, [request(each) for each in guesses(known, among, among)])
        posts = [request(each) for each in guesses(count, among + known, among)]
        began, worked_s = time.perf_counter(), _cpu_s(bot.pid)
        await flood(connections, posts)
        per_s = count / (time.perf_counter() - began)
        cpu_us = (_cpu_s(bot.pid) - worked_s) / count * 1_000_000
        rate = rate or per_s / 2
        later = [request(each) for each in guesses(count, among + known + count, among)]
        latencies_ms = sorted(await _steadily(connections, later, rate))
        bot.stdin.close()
        bot.wait(30)
    async with open_redis(redis_url) as redis:
        stats = await Queues.on(redis).guesses.stats(0)
    say(
        per_s=per_s,
        cpu_us=cpu_us,
        rate=rate,
        p50_ms=latencies_ms[len(latencies_ms) // 2],
        p99_ms=latencies_ms[int(len(latencies_ms) * 0.99)],
        on_lanes=stats.waiting,
        parse_us=_parse_us(list(guesses(min(count, _READ), 0, among))),
        posted=known + 2 * count,
    )


async def _steadily(connections: list[Connection], posts: list[bytes], rate: float) -> list[float]:
    free: asyncio.Queue[Connection] = asyncio.Queue()
    for connection in connections:
        free.put_nowait(connection)
    latencies_ms: list[float] = []
    under_way: set[asyncio.Task[None]] = set()

    async def one(post: bytes, due: float) -> None:
        connection = await free.get()
        await connection.post(post)
        free.put_nowait(connection)
        latencies_ms.append((time.perf_counter() - due) * 1_000)

    began = time.perf_counter()
    for number, post in enumerate(posts):
        due = began + number / rate
        ahead = due - time.perf_counter()
        if ahead > 0:
            await asyncio.sleep(ahead)
        task = asyncio.create_task(one(post, due))
        under_way.add(task)
        task.add_done_callback(under_way.discard)
    await asyncio.gather(*under_way)
    return latencies_ms


def _parse_us(updates: list[dict[str, Any]]) -> float:
    """What the library takes to read one of them."""
    bot = Bot(TOKEN)
    began_s = time.process_time()
    for each in updates:
        Update.de_json(each, bot)
    return (time.process_time() - began_s) / len(updates) * 1_000_000


def _cpu_s(pid: int) -> float:
    """What the process has had of a core so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
