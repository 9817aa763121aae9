"""huey at a Redis or Valkey server, keeping no results: as little as it can do (it acknowledges nothing either)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from huey import RedisHuey  # type: ignore[import-untyped]  # it ships no types


class HueyAt:
    """One queue, and what it does with a job.

    Args:
        url: of the server.
        work: what is done.
    """

    def __init__(self, url: str, work: Callable[[str], None]) -> None:
        logging.getLogger("huey").setLevel(logging.ERROR)
        self._huey = RedisHuey("bench", url=url, results=False)
        self.send: Callable[[str], Any] = self._huey.task()(work)
        self._consumer: Any = None

    def start(self, threads: int) -> None:
        """Work, in so many threads."""
        self._consumer = self._huey.create_consumer(workers=threads, periodic=False)
        self._consumer.start()

    def stop(self) -> None:
        """Stop working, once what is being done is done."""
        self._consumer.stop(graceful=True)
