"""The lanes' own scripts over a bare socket: what the server can do when the client does next to nothing.

Knows what the scripts are called with, so that a side can stand below the client it is the limit of.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, Final, Self

import hiredis

from engine.lanes.keys import Keys
from engine.lanes.scripts import script

_CHUNK: Final = 1 << 16
_WINDOW: Final = 500
_UNIX: Final = "unix://"
MAX_ATTEMPTS: Final = 5
LEASE_MS: Final = 600_000

Word = bytes | str | int


class Bare:
    """One connection that sends commands and reads replies, and nothing else.

    Args:
        url: of a server on a unix socket.
        queue: the queue whose scripts it calls.
    """

    def __init__(self, url: str, queue: str = "bench") -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(url.removeprefix(_UNIX))
        self._reader = hiredis.Reader()
        self.base: Final = Keys(queue).base

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    def call(self, *command: Word) -> Any:
        """Send one command and wait for its reply."""
        self.send(packed(command))
        return self.receive()

    def send(self, commands: bytes) -> None:
        """Send what `packed` made."""
        self.socket.sendall(commands)

    def receive(self) -> Any:
        """Wait for the next reply; one that is an error is raised."""
        while (reply := self._reader.gets()) is False:
            self.take_in()
        if isinstance(reply, Exception):
            raise reply
        return reply

    def take_in(self) -> None:
        """Read what has arrived."""
        if not (chunk := self.socket.recv(_CHUNK)):
            raise RuntimeError("the server closed the connection")
        self._reader.feed(chunk)

    def replies(self) -> Iterable[Any]:
        """The replies that have arrived in full."""
        while (reply := self._reader.gets()) is not False:
            if isinstance(reply, Exception):
                raise reply
            yield reply

    def load(self, *verbs: str) -> None:
        """Make the server know the scripts of these verbs."""
        for verb in verbs:
            self.call("SCRIPT", "LOAD", script(verb).text)

    def script(self, verb: str, *args: Word) -> bytes:
        """The call of a verb's script, ready to be sent."""
        return packed(("EVALSHA", script(verb).sha, 1, self.base, *args))

    def run_all(self, calls: Sequence[bytes]) -> None:
        """Send all of ``calls`` and wait until they are answered, with some hundred on their way at once."""
        for first in range(0, len(calls), _WINDOW):
            window = calls[first : first + _WINDOW]
            self.send(b"".join(window))
            for _ in window:
                self.receive()

    def claim(self, count: int) -> bytes:
        """The call that leases up to ``count`` jobs."""
        return self.script("claim", count, LEASE_MS, MAX_ATTEMPTS)

    def complete(self, leases: Sequence[bytes]) -> bytes:
        """The call that settles them."""
        return self.script("complete", 0, *leases)

    def exchange(self, leases: Sequence[bytes], count: int) -> bytes:
        """The call that settles some and leases up to ``count`` others."""
        return self.script("exchange", count, LEASE_MS, MAX_ATTEMPTS, *leases)


def set_levers(
    url: str, queue: str, groups: Sequence[str], *, ceiling: int = 0, weights: Sequence[int] = (), cap: int = 0
) -> None:
    """Set levers of many groups at once; the weights are dealt out in turn, and 0 or none leaves a lever alone."""
    with Bare(url, queue) as bare:
        bare.load("limit", "weight", "cap")
        calls = []
        for number, group in enumerate(groups):
            if ceiling:
                calls.append(bare.script("limit", group, ceiling))
            if weights:
                calls.append(bare.script("weight", group, weights[number % len(weights)]))
            if cap:
                calls.append(bare.script("cap", group, cap, cap))
        bare.run_all(calls)


def packed(command: Iterable[Word]) -> bytes:
    """A command as it goes over the wire."""
    words = [word if isinstance(word, bytes) else str(word).encode() for word in command]
    return b"".join((b"*%d\r\n" % len(words), *(b"$%d\r\n%b\r\n" % (len(word), word) for word in words)))


def leases_of(reply: Sequence[Any]) -> list[bytes]:
    """The leases in the answer of a claim, as a settlement wants them."""
    first = reply[2]
    return [
        b"%b%b%016d%d" % (reply[at + 1][:44], reply[at], first + number, _attempts(reply[at + 1]))
        for number, at in enumerate(range(3, len(reply), 2))
    ]


def _attempts(record: bytes) -> int:
    return int.from_bytes(record[50:52], "big") % (1 << 15) + 1
