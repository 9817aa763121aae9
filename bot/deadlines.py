"""Deadlines for many short pieces of work, by one timer for all: one for each costs more than the work of an update.

They are kept to within ``TICK_S``, which is no loss where they are there for what hangs.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Final, Self

TICK_S: Final = 0.05


class Deadlines:
    """Hands out deadlines. Belongs to one event loop."""

    def __init__(self) -> None:
        self._open: set[Deadline] = set()
        self._timer: asyncio.TimerHandle | None = None

    def within(self, ms: int) -> Deadline:
        """A block that ends by ``TimeoutError`` after ``ms`` or a little later, as ``asyncio.timeout`` would."""
        return Deadline(self, ms)

    def add(self, deadline: Deadline) -> None:
        """Watch it."""
        self._open.add(deadline)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(TICK_S, self._look)

    def remove(self, deadline: Deadline) -> None:
        """Watch it no more."""
        self._open.discard(deadline)

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        now_s = loop.time()
        for deadline in [each for each in self._open if each.at_s <= now_s]:
            self._open.discard(deadline)
            deadline.pass_by()
        self._timer = loop.call_later(TICK_S, self._look) if self._open else None


class Deadline:
    """One block, in the task that enters it."""

    __slots__ = ("_among", "_cancels", "_passed", "_task", "at_s")

    def __init__(self, among: Deadlines, ms: int) -> None:
        self._among = among
        self._passed = False
        self._task: asyncio.Task[object] | None = None
        self._cancels = 0
        self.at_s = asyncio.get_running_loop().time() + ms / 1_000

    def __enter__(self) -> Self:
        self._task = asyncio.current_task()
        if self._task is None:
            raise RuntimeError("a deadline stops a task; enter it inside one")
        self._cancels = self._task.cancelling()
        self._among.add(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._among.remove(self)
        # What somebody else cancelled meanwhile stays cancelled.
        if (
            self._passed
            and self._task is not None
            and self._task.uncancel() <= self._cancels
            and kind is not None
            and issubclass(kind, asyncio.CancelledError)
        ):
            raise TimeoutError from error

    def pass_by(self) -> None:
        """It is too late."""
        self._passed = True
        if self._task is not None:
            self._task.cancel()
