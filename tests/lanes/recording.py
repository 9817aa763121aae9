"""A Redis client that keeps what it sends and what is answered."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redis.asyncio import ConnectionPool, Redis, UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff


@dataclass(frozen=True, slots=True)
class Call:
    """One script that ran."""

    sha: str
    keys: list[bytes]
    words: list[bytes]
    reply: Any


class _RecordedConnection(UnixDomainSocketConnection):
    def __init__(self, *, calls: list[Call], texts: dict[bytes, str], **options: Any) -> None:
        super().__init__(**options)
        self._calls = calls
        self._texts = texts
        self._pending: deque[list[bytes]] = deque()

    async def send_packed_command(
        self,
        command: bytes | str | Iterable[bytes],
        check_health: bool = True,  # noqa: FBT001, FBT002 - redis-py's signature
    ) -> None:
        assert not isinstance(command, str)
        chunks = [command] if isinstance(command, bytes) else list(command)
        self._pending.extend(_commands(b"".join(chunks)))
        await super().send_packed_command(chunks, check_health)

    async def read_response(self, *args: Any, **options: Any) -> Any:
        name, *words = self._pending.popleft() if self._pending else [b""]
        reply = await super().read_response(*args, **options)
        if name in {b"EVAL", b"EVALSHA"}:
            sha = self._texts[words[0]] if name == b"EVAL" else words[0].decode()
            count = int(words[1])
            self._calls.append(Call(sha, words[2 : 2 + count], words[2 + count :], reply))
        return reply


def _commands(raw: bytes) -> Iterator[list[bytes]]:
    at = 0

    def number() -> int:
        nonlocal at
        end = raw.index(b"\r\n", at)
        value = int(raw[at + 1 : end])
        at = end + 2
        return value

    while at < len(raw):
        words = []
        for _ in range(number()):
            size = number()
            words.append(raw[at : at + size])
            at += size + 2
        yield words


class RecordingRedis(Redis):
    """Keeps every script call in ``calls``; ``shas`` tells by its text what a script's digest is."""

    def __init__(self, path: Path, shas: dict[bytes, str]) -> None:
        self.calls: list[Call] = []
        pool = ConnectionPool(
            connection_class=_RecordedConnection,
            path=str(path),
            retry=Retry(NoBackoff(), 0),
            calls=self.calls,
            texts=shas,
        )
        super().__init__(connection_pool=pool)
        self.auto_close_connection_pool = True
