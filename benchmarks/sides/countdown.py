"""Waits until threads have done so many jobs."""

from __future__ import annotations

import itertools
import threading

_LONGEST_S = 120


class Countdown:
    """Counts what is done, from any thread.

    Args:
        jobs: how many there are.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._count = itertools.count(1)
        self._over = threading.Event()

    def done(self, payload: str) -> None:
        """One job is done; that it came with its payload is part of it."""
        if next(self._count) == self._jobs and payload:
            self._over.set()

    def wait(self) -> None:
        """Wait for the last one.

        Raises:
            RuntimeError: it does not come.
        """
        if not self._over.wait(_LONGEST_S):
            raise RuntimeError(f"only {next(self._count) - 1} of {self._jobs} jobs were done in {_LONGEST_S} s")
