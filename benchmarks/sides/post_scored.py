"""Posts guesses until they are rows: ``python -m benchmarks.sides.post_scored REDIS_URL DATABASE_URL GUESSES``.

One bot process takes them, one worker process scores them while they come, answers and standings included.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvloop
from sqlalchemy import func, select

from benchmarks.posters import connect, flood
from benchmarks.posting import PLAYERS, chats, guesses, newgame, request
from benchmarks.process import ROOT, say
from engine.store.database import Database, open_database
from engine.store.tables import guesses as rows

_LOOK_EVERY_S = 0.01


async def main(redis_url: str, database_url: str, count: int) -> None:
    among = chats(count)
    known = among * PLAYERS
    with _side("take_posts", redis_url, database_url) as bot, _side("work_posts", redis_url, database_url):
        connections = await connect(bot["port"])
        await flood(connections, [request(newgame(chat)) for chat in range(among)])
        async with await open_database(database_url) as database:
            await flood(connections, [request(each) for each in guesses(known, among, among)])
            await _committed(database, known)
            posts = [request(each) for each in guesses(count, among + known, among)]
            began = time.perf_counter()
            await flood(connections, posts)
            posted_s = time.perf_counter() - began
            await _committed(database, known + count)
            say(per_s=count / (time.perf_counter() - began), posted_per_s=count / posted_s)


@contextmanager
def _side(name: str, *args: str) -> Iterator[dict[str, Any]]:
    """A process of its own, and the first thing it says."""
    command = [sys.executable, "-m", f"benchmarks.sides.{name}", *args]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as process:  # noqa: S603
        assert process.stdout is not None  # noqa: S101 - a pipe was asked for
        assert process.stdin is not None  # noqa: S101 - a pipe was asked for
        yield json.loads(process.stdout.readline())
        process.stdin.close()
        process.wait(60)


async def _committed(database: Database, wanted: int) -> None:
    found = 0
    while found < wanted:
        await asyncio.sleep(_LOOK_EVERY_S)
        async with database.reading() as connection:
            found = int((await connection.execute(select(func.count()).select_from(rows))).scalar_one())
    if found > wanted:
        raise RuntimeError(f"{wanted} guesses were posted, and {found} are rows")


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
