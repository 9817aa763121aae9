"""What bots and workers of the benchmarks have in place of Telegram, and how they are set up."""

from __future__ import annotations

import json
from typing import Any, Final

from pydantic import SecretStr
from telegram.request import BaseRequest, RequestData

from benchmarks.posting import PATH, SECRET, TOKEN
from bot.settings import Settings

_ANSWERS: Final[dict[str, Any]] = {
    "getMe": {"id": 4242, "is_bot": True, "first_name": "Bench", "username": "bench_bot"}
}


class Answering(BaseRequest):
    """Says yes to everything."""

    @property
    def read_timeout(self) -> float | None:
        """As the port wants it."""
        return None

    async def initialize(self) -> None:
        """As the port wants it."""

    async def shutdown(self) -> None:
        """As the port wants it."""

    async def do_request(
        self, url: str, method: str, request_data: RequestData | None = None, *_: Any, **__: Any
    ) -> tuple[int, bytes]:
        """Answer at once."""
        del method, request_data
        return 200, json.dumps({"ok": True, "result": _ANSWERS.get(url.rpartition("/")[2], True)}).encode()


def settings_at(redis_url: str, database_url: str) -> Settings:
    """Settings of a bot that takes posts at a free port of the loopback."""
    return Settings.model_validate(
        {
            "TELEGRAM_TOKEN": SecretStr(TOKEN),
            "REDIS_URL": SecretStr(redis_url),
            "DATABASE_URL": SecretStr(database_url),
            "webhook_url": f"https://bot.example.org{PATH}",
            "webhook_secret": SecretStr(SECRET),
            "listen": "127.0.0.1:0",
        }
    )
