"""Counting what the server runs, to hold I7: a verb's cost depends on neither groups nor lanes."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType
from typing import Final, Self

from tests.lanes.watching import WatchedRedis

SCANNING: Final = frozenset(
    ["lpos", "lrem", "smembers", "keys", "scan", "sscan", "hscan", "zscan", "hgetall", "hkeys", "hvals", "sort"]
)
"""Commands whose cost grows with what they look through."""

_SCRIPTS: Final = frozenset(["eval", "evalsha", "eval_ro", "evalsha_ro", "fcall", "fcall_ro"])
_OURS: Final = frozenset(["info", "time", "client|setinfo", "client|setname", "hello", "select", "script|load"])


class Counted:
    """The commands that the server ran inside the block, those of scripts included; the oracle looks away."""

    def __init__(self, redis: WatchedRedis) -> None:
        self._redis = redis
        self._blind = ExitStack()
        self._before: dict[str, int] = {}
        self.by_command: dict[str, int] = {}

    async def __aenter__(self) -> Self:
        self._blind.enter_context(self._redis.unwatched())
        self._before = await self._read()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        after = await self._read()
        self._blind.close()
        counts = {name: calls - self._before.get(name, 0) for name, calls in after.items() if name not in _OURS}
        self.by_command = {name: calls for name, calls in counts.items() if calls}

    async def _read(self) -> dict[str, int]:
        stats = await self._redis.info("commandstats")
        return {name.removeprefix("cmdstat_"): int(stat["calls"]) for name, stat in stats.items()}

    @property
    def calls(self) -> int:
        """All commands, the scripts themselves aside."""
        return sum(calls for name, calls in self.by_command.items() if name not in _SCRIPTS)

    @property
    def scripts(self) -> int:
        """Scripts run: the round trips of a verb that is one script."""
        return sum(calls for name, calls in self.by_command.items() if name in _SCRIPTS)

    @property
    def scanning(self) -> dict[str, int]:
        """Those that I7 forbids."""
        return {name: calls for name, calls in self.by_command.items() if name in SCANNING}
