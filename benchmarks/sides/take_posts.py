"""Takes Telegram's posts: ``python -m benchmarks.sides.take_posts REDIS_URL DATABASE_URL``.

One bot process as it is deployed, less Telegram: what it asks of the Bot API is answered in the process. It says its
port once it takes posts, and ends with its standard input.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Final

import uvloop

from benchmarks.answering import Answering, settings_at
from benchmarks.posting import SEED
from benchmarks.process import say
from bot.logs import configure
from bot.wiring import Addresses, Transport, open_application, open_house
from bot.wiring_intake import open_web, take_updates
from engine.game.draw import SeededDraw

_LOOK_EVERY_S: Final = 0.01


async def main(redis_url: str, database_url: str) -> None:
    configure("warning", json=True)
    settings = settings_at(redis_url, database_url)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin, stop.set)
    async with (
        open_house(settings, Addresses(redis_url, database_url), SeededDraw(SEED), migrating=True) as house,
        open_web(house, takes=True, works=False) as web,
        open_application(house, stop, Transport(Answering(), Answering())) as application,
    ):
        if application is None or web.posts is None:
            return
        taking = asyncio.create_task(take_updates(house, application, stop, web))
        while not (web.posts.is_open or taking.done()):  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(_LOOK_EVERY_S)
        say(port=web.port)
        sys.stdout.flush()
        await taking


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], sys.argv[2]))
