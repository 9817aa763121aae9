"""What a person types, line by line: at a terminal with an input line that nothing overwrites, or through a pipe."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Final, Protocol

from prompt_toolkit import PromptSession
from prompt_toolkit.formatted_text import AnyFormattedText
from prompt_toolkit.patch_stdout import patch_stdout

QUIT: Final = "/quit"


class Typing(Protocol):
    """Where typed lines come from."""

    def around(self) -> AbstractContextManager[None]:
        """Holds while lines are read and the chat is shown."""
        ...

    def lines(self) -> AsyncIterator[str]:
        """Lines as they are typed, until the person leaves."""
        ...


class TerminalTyping:
    """A person at a terminal, with history and editing.

    Args:
        name: shown before the cursor.
        below: shown under the input line; asked whenever it is drawn.
    """

    def __init__(self, name: str, below: Callable[[], str]) -> None:
        self._name = name
        self._below = below

    def around(self) -> AbstractContextManager[None]:
        """Print above the input line."""
        return patch_stdout(raw=True)

    async def lines(self) -> AsyncIterator[str]:
        """Lines until Ctrl-D, Ctrl-C or ``/quit``."""
        # The chat shows what was said, so the input line itself needn't stay.
        session: PromptSession[str] = PromptSession(erase_when_done=True, bottom_toolbar=self._toolbar)
        while True:
            try:
                line = await session.prompt_async(f"{self._name}> ", refresh_interval=0.5)
            except (EOFError, KeyboardInterrupt):
                return
            if line.strip() == QUIT:
                return
            yield line

    def _toolbar(self) -> AnyFormattedText:
        return self._below() or None


class PipedTyping:
    """Lines from standard input, where that is no terminal."""

    def around(self) -> AbstractContextManager[None]:
        """Nothing is needed."""
        return nullcontext()

    async def lines(self) -> AsyncIterator[str]:
        """Lines until the end of the input or ``/quit``."""
        loop = asyncio.get_running_loop()
        read: asyncio.Queue[str | None] = asyncio.Queue()

        def pump() -> None:
            for raw in sys.stdin.buffer:
                loop.call_soon_threadsafe(read.put_nowait, raw.decode(errors="replace"))
            loop.call_soon_threadsafe(read.put_nowait, None)

        # A daemon: a read that nobody feeds must not hold the process when it is asked to stop.
        threading.Thread(target=pump, name="standard input", daemon=True).start()
        while (line := await read.get()) is not None and line.strip() != QUIT:
            yield line
