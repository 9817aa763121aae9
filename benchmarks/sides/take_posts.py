"""Takes Telegram's posts: ``python -m benchmarks.sides.take_posts REDIS_URL DATABASE_URL``.

One bot process as it is deployed, less Telegram: what it asks of the Bot API is answered in the process. It says its
port once it takes posts, and ends with its standard input.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any, Final

import uvloop
from pydantic import SecretStr
from telegram.request import BaseRequest, RequestData

from benchmarks.posting import PATH, SECRET, SEED, TOKEN
from benchmarks.process import say
from bot.logs import configure
from bot.settings import Settings
from bot.wiring import Addresses, Transport, open_application, open_house
from bot.wiring_intake import open_web, take_updates
from engine.game.draw import SeededDraw

_ANSWERS: Final[dict[str, Any]] = {
    "getMe": {"id": 4242, "is_bot": True, "first_name": "Bench", "username": "bench_bot"}
}


class _Answering(BaseRequest):
    """Says yes to everything."""

    @property
    def read_timeout(self) -> float | None:
        return None

    async def initialize(self) -> None:
        pass

    async def shutdown(self) -> None:
        pass

    async def do_request(
        self, url: str, method: str, request_data: RequestData | None = None, *_: Any, **__: Any
    ) -> tuple[int, bytes]:
        del method, request_data
        return 200, json.dumps({"ok": True, "result": _ANSWERS.get(url.rpartition("/")[2], True)}).encode()


async def main(redis_url: str, database_url: str) -> None:
    configure("warning", json=True)
    settings = Settings.model_validate(
        {
            "TELEGRAM_TOKEN": SecretStr(TOKEN),
            "REDIS_URL": SecretStr(redis_url),
            "DATABASE_URL": SecretStr(database_url),
            "webhook_url": f"https://bot.example.org{PATH}",
            "webhook_secret": SecretStr(SECRET),
            "listen": "127.0.0.1:0",
        }
    )
    stop = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin, stop.set)
    async with (
        open_house(settings, Addresses(redis_url, database_url), SeededDraw(SEED), migrating=True) as house,
        open_web(house, takes=True, works=False) as web,
        open_application(house, stop, Transport(_Answering(), _Answering())) as application,
    ):
        if application is None or web.posts is None:
            return
        taking = asyncio.create_task(take_updates(house, application, stop, web))
        while not (web.posts.is_open or taking.done()):  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
        say(port=web.port)
        sys.stdout.flush()
        await taking


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], sys.argv[2]))
