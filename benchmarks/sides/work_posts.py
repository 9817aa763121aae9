"""Works off what was posted: ``python -m benchmarks.sides.work_posts REDIS_URL DATABASE_URL``.

One worker process as it is deployed, less Telegram: it scores, settles, and says to nobody. It ends with its standard
input.
"""

from __future__ import annotations

import asyncio
import sys

import uvloop

from benchmarks.answering import Answering, settings_at
from benchmarks.posting import SEED
from benchmarks.process import say
from bot.logs import configure
from bot.wiring import Addresses, Transport, open_application, open_house, work
from engine.game.draw import SeededDraw


async def main(redis_url: str, database_url: str) -> None:
    configure("warning", json=True)
    settings = settings_at(redis_url, database_url)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin, stop.set)
    async with (
        open_house(settings, Addresses(redis_url, database_url), SeededDraw(SEED), migrating=False) as house,
        open_application(house, stop, Transport(Answering(), Answering())) as application,
    ):
        if application is not None:
            say(works=1)
            sys.stdout.flush()
            await work(house, application, stop)


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], sys.argv[2]))
