"""The product's own processes, as a supervisor runs them. They end with this one, however that ends."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_GUARD: Final = Path(__file__).parents[1] / "embedded_guard.py"
_PRODUCT: Final = ("-c", "from bot.cli import main; main()")
_SINGLE_LINE: Final = ("-m", "bot.flood.single_line")
_READY: Final = b"ready. It keeps"
_END_S: Final = 20.0


class Process:
    """One of ``codemojex bot`` and ``codemojex worker``.

    Args:
        name: what the report calls it.
        command: ``bot`` or ``worker``.
        home: its folder; its log is in it.
        environment: all that it knows.
        single_line: whether its guesses wait in one line.
    """

    def __init__(
        self, name: str, command: str, home: Path, environment: Mapping[str, str], *, single_line: bool
    ) -> None:
        self.name = name
        self.log = home / f"{name}{' on one line' * single_line}.log"
        program = [sys.executable, *(_SINGLE_LINE if single_line else _PRODUCT), command]
        guarded = [sys.executable, "-I", "-S", str(_GUARD), "prctl", str(os.getpid()), *program]
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                guarded if sys.platform == "linux" else program,
                cwd=home,
                env={"PATH": os.defpath, "HOME": str(home), **environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a Ctrl-C is ours to pass on
            )

    @property
    def pid(self) -> int | None:
        """None when it does not run."""
        return self._process.pid if self._process.poll() is None else None

    @property
    def code(self) -> int | None:
        """How it ended; None while it runs."""
        return self._process.poll()

    @property
    def ready(self) -> bool:
        """Whether it got as far as taking up its work."""
        return _READY in self.log.read_bytes()

    @property
    def last_words(self) -> str:
        """The last line of its log."""
        lines = self.log.read_text(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else "it said nothing"

    async def end(self) -> None:
        """Ask it to stop, and kill it where it does not."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            await asyncio.to_thread(self._process.wait, _END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
