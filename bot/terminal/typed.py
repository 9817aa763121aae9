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
_REDRAW_EVERY_S: Final = 0.5


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
        above: shown over the input line; asked whenever that is drawn.
    """

    def __init__(self, name: str, above: Callable[[], str]) -> None:
        self._name = name
        self._above = above

    def around(self) -> AbstractContextManager[None]:
        """Print above the input line."""
        return patch_stdout(raw=True)

    async def lines(self) -> AsyncIterator[str]:
        """Lines until Ctrl-D, Ctrl-C or ``/quit``."""
        # The chat shows what was said, so the input line itself needn't stay.
        session: PromptSession[str] = PromptSession(self._prompt, erase_when_done=True, reserve_space_for_menu=0)
        while True:
            try:
                # A SIGINT from elsewhere is the program's to handle; Ctrl-C comes as a key.
                line = await session.prompt_async(handle_sigint=False, refresh_interval=_REDRAW_EVERY_S)
            except (EOFError, KeyboardInterrupt):
                return
            if line.strip() == QUIT:
                return
            yield line

    def _prompt(self) -> AnyFormattedText:
        above = self._above()
        return [("", f"{above}\n" if above else ""), ("bold", f"{self._name}> ")]


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
