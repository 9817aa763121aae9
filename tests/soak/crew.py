"""The processes of a soak: whoever is killed is replaced by a new one."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
ROLES: Final = ("claimer", "claimer", "claimer", "producer", "producer", "levers")


class Crew:
    """Starts at once, and ends with `dismiss`.

    Attributes:
        killed: how many were killed.
        ended: what ended by itself, which none should.
    """

    def __init__(self, url: str, seed: int) -> None:
        self._url = url
        self._seed = seed
        self._hired = 0
        self.killed = 0
        self.ended: list[str] = []
        self._processes = dict(self._hire(role) for role in ROLES)

    @property
    def names(self) -> set[str]:
        """Who is at work."""
        return set(self._processes)

    def _hire(self, role: str) -> tuple[str, subprocess.Popen[bytes]]:
        self._hired += 1
        number = str(self._hired)
        command = [sys.executable, "-m", "tests.soak.actor", role, self._url, f"{self._seed} {role} {number}", number]
        return f"{role} {number}", subprocess.Popen(command, cwd=ROOT)  # noqa: S603 - our own command

    def kill_one(self, chance: random.Random) -> None:
        """Kill one in mid-sentence, and replace it."""
        name = chance.choice(sorted(self._processes))
        process = self._processes.pop(name)
        process.kill()
        process.wait()
        self.killed += 1
        self._processes.update([self._hire(name.partition(" ")[0])])

    def look(self) -> None:
        """Note who ended without being told to."""
        for name, process in list(self._processes.items()):
            if process.poll() is not None:
                self.ended.append(f"{name} ended by itself with code {process.returncode}")
                del self._processes[name]

    def dismiss(self) -> None:
        """End all; the queue's phase tells them to, and whoever does not hear is killed."""
        for process in self._processes.values():
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
