"""One process of the product: started, killed, stopped and gone on with, and what it logged."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.cli.program import PROGRAM

_END_S: Final = 15.0


class Process:
    """``codemojex`` with one command, as a user runs it; everything it says goes into a file.

    Args:
        name: what the chaos calls it.
        home: its working directory; the file is in it.
        command: the words after ``codemojex``.
        environment: all that it knows.
    """

    def __init__(self, name: str, home: Path, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.name = name
        self.log = home / f"{name}.log"
        self._home = home
        self._command = list(command)
        self._environment = {"PATH": os.defpath, "HOME": str(home), **environment}
        self._process: subprocess.Popen[bytes] | None = None
        self._package: Path | None = None
        self._began = 0

    @property
    def ready(self) -> bool:
        """Whether it got as far as taking up its work since it was last started, also where it ended since."""
        return self.said("ready. It keeps", self._began)

    @property
    def pid(self) -> int | None:
        """None when it does not run."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def start(self, package: Path | None = None) -> None:
        """Start it; with ``package``, the code there instead of ours."""
        self._package, self._began = package, self.size()
        program = [str(PROGRAM)]
        environment = dict(self._environment)
        if package is not None:
            program = [sys.executable, "-c", "from bot.cli import main; main()"]
            environment["PYTHONPATH"] = str(package)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                [*program, *self._command],
                cwd=self._home,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a Ctrl-C is ours to pass on
            )

    def start_again(self) -> None:
        """What a supervisor does for one that ended."""
        self.start(self._package)

    def kill(self) -> None:
        """Kill it in mid-sentence."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    async def end(self) -> None:
        """Ask it to stop, and kill it where it does not."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            await asyncio.to_thread(self._process.wait, _END_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def size(self) -> int:
        """How much it has logged, in bytes."""
        return self.log.stat().st_size if self.log.exists() else 0

    def said(self, text: str, since: int = 0) -> bool:
        """Whether it logged ``text`` after its first ``since`` bytes."""
        return text.encode() in self._since(since)

    def events(self, since: int = 0) -> Iterator[dict[str, Any]]:
        """What it logged after its first ``since`` bytes; lines that are no events are left out."""
        for line in self._since(since).splitlines():
            if line.startswith(b"{") and line.endswith(b"}"):
                yield json.loads(line)

    def _since(self, since: int) -> bytes:
        if not self.log.exists():
            return b""
        with self.log.open("rb") as log:
            log.seek(since)
            return log.read()


def family(pid: int) -> list[int]:
    """A process and its children; elsewhere than on Linux, the process alone."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    return [pid, *map(int, children.read_text().split())] if children.exists() else [pid]


def signal_all(pids: Sequence[int], number: signal.Signals) -> None:
    """Send ``number`` to those that still run."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue
