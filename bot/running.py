"""One event loop for one command, and the signals that end it: the first gracefully, the second at once."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

T = TypeVar("T")

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_SIGNALLED: Final = 128


class Stop(asyncio.Event):
    """Set when the process is asked to end; ``signal`` says by what."""

    signal: signal.Signals | None = None

    @property
    def exit_code(self) -> int:
        """What a process that a signal cut short answers; 0 where none did."""
        return _SIGNALLED + self.signal if self.signal is not None else 0


def run(main: Callable[[Stop], Coroutine[Any, Any, T]]) -> T:
    """Run ``main`` to its end on an event loop of its own; it is given what a signal sets."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(_with_signals(main))


async def together(stop: asyncio.Event, *jobs: Coroutine[Any, Any, None]) -> None:
    """Run ``jobs`` side by side until one ends, then set ``stop`` and wait for the others; raises what one raised."""
    tasks = [asyncio.create_task(job) for job in jobs]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        stop.set()
        await asyncio.wait(tasks)
    finally:
        for task in tasks:
            task.cancel()  # only where this was cancelled itself: else they are done
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome


async def _with_signals(main: Callable[[Stop], Coroutine[Any, Any, T]]) -> T:
    stop = Stop()
    loop = asyncio.get_running_loop()

    def asked_by(number: signal.Signals) -> None:
        if stop.is_set():
            # Whatever is cut off here comes back after its lease: that is how a kill is survived, too.
            os._exit(_SIGNALLED + number)
        stop.signal = number
        stop.set()

    for number in _SIGNALS:
        loop.add_signal_handler(number, asked_by, number)
    try:
        return await main(stop)
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    if sys.platform == "win32":
        return None
    try:
        import uvloop  # noqa: PLC0415 - it has no wheel for some interpreters, and asyncio's own loop does
    except ImportError:
        return None
    return uvloop.new_event_loop
