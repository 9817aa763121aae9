"""Waiting until everything that was said in the terminal's chat is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from bot.errors import NothingAnswered
from bot.terminal.chat import GroupChat, Said
from engine.game.model import Place

_LOOK_EVERY_S: Final = 0.5
_PATIENCE_S: Final = 120.0


class Settled:
    """Call it to wait: it returns once the bot took every message, and all that follows from them was said.

    Args:
        chat: whose messages.
        quiet: returns once nothing that they led to is under way (``Quiet.wait``).
        log: where the reason stands if nothing comes.
        patience_s: how long the chat may show nothing new meanwhile.
    """

    def __init__(
        self, chat: GroupChat, quiet: Callable[[Place], Awaitable[None]], log: str, patience_s: float = _PATIENCE_S
    ) -> None:
        self._chat = chat
        self._quiet = quiet
        self._log = log
        self._patience_s = patience_s
        self._shown_s = 0.0
        chat.watch(self._note)

    async def __call__(self) -> None:
        """Wait.

        Raises:
            NothingAnswered: the chat showed nothing new for too long.
        """
        now_s = asyncio.get_running_loop().time
        self._shown_s = now_s()
        settling = asyncio.ensure_future(self._settle())
        try:
            while not (await asyncio.wait({settling}, timeout=_LOOK_EVERY_S))[0]:
                if now_s() - self._shown_s > self._patience_s:
                    raise NothingAnswered(
                        f"nothing was answered for {self._patience_s:.0f} s; {self._log} says why, "
                        "and the same command goes on from here"
                    )
            settling.result()
        finally:
            settling.cancel()
            await asyncio.gather(settling, return_exceptions=True)

    async def _settle(self) -> None:
        await self._chat.updates.confirmed()
        place = Place(chat_ref=self._chat.ref, thread=0, title=self._chat.name, private=False)
        await self._quiet(place)

    def _note(self, _: Said) -> None:
        self._shown_s = asyncio.get_running_loop().time()
