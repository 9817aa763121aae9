"""The program as a user runs it: another process, an empty home, and nothing of our environment."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.waiting import wait_until

PROGRAM: Final = Path(sys.executable).with_name("codemojex")
TIMEOUT_S: Final = 90


@dataclass(frozen=True)
class Done:
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def line(self) -> str:
        """The one line that it said on standard error."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        return lines[0]


class Running:
    """A run that is not over; what it said so far can be read."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.out = ""
        self.err = ""
        self._reading = [asyncio.create_task(self._read_out()), asyncio.create_task(self._read_err())]

    @property
    def pid(self) -> int:
        return self._process.pid

    async def said(self, text: str, times: int = 1) -> None:
        """Wait until standard output has ``text`` so many times."""
        await wait_until(lambda: self.out.count(text) >= times, f"the program says {text!r} {times}x", 60_000)

    def type(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(text.encode())

    def close(self) -> None:
        """End its standard input."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    async def done(self) -> Done:
        async with asyncio.timeout(TIMEOUT_S):
            await asyncio.gather(*self._reading)
            code = await self._process.wait()
        return Done(code, self.out, self.err)

    async def end(self) -> None:
        """Kill it if it still runs."""
        if self._process.returncode is None:
            self._process.kill()
        await self.done()

    async def _read_out(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            self.out += line.decode()

    async def _read_err(self) -> None:
        assert self._process.stderr is not None
        async for line in self._process.stderr:
            self.err += line.decode()


@asynccontextmanager
async def started(home: Path, *arguments: str | Path, **environment: str) -> AsyncIterator[Running]:
    """Start ``codemojex`` with these arguments in ``home``; killed at the end if it still runs."""
    clean: Mapping[str, str] = {"PATH": os.defpath, "HOME": str(home), **environment}
    process = await asyncio.create_subprocess_exec(
        PROGRAM,
        *map(str, arguments),
        cwd=home,
        env=clean,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    running = Running(process)
    try:
        yield running
    finally:
        await running.end()


async def codemojex(home: Path, *arguments: str | Path, stdin: str = "", **environment: str) -> Done:
    """Run ``codemojex`` to its end."""
    async with started(home, *arguments, **environment) as running:
        running.type(stdin)
        running.close()
        return await running.done()
