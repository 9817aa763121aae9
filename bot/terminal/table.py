"""The table: you, two simulated players and the bot, in one chat."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final

from bot.terminal.chat import GroupChat, Said
from bot.terminal.keyboard import Keyboard
from bot.terminal.mind import Mind
from bot.terminal.passed_over import advice
from bot.terminal.people import Person
from bot.terminal.screen import Screen
from bot.terminal.simulated import SimulatedPlayer
from bot.terminal.typed import Typing

YOU: Final = "You"
CAREFUL: Final = "Mira"
CARELESS: Final = "Theo"
_CAREFUL_EFFORT: Final = 500
_CARELESS_EFFORT: Final = 120

HINT: Final = (
    "You are this chat's admin; Mira and Theo play along. /newgame starts a round, /help says more.\n"
    "Guess with six emoji, or with six of the letters a to p that stand for the keyboard's. /quit or Ctrl-D leaves."
)


class Legend:
    """The keyboard that the chat showed last, with its letters."""

    def __init__(self, chat: GroupChat) -> None:
        self.keyboard: Keyboard | None = None
        chat.watch(self._read)

    def shown(self) -> str:
        """The letters beside their emoji; empty before there is a keyboard."""
        return self.keyboard.legend() if self.keyboard is not None else ""

    def spelt(self, text: str) -> str:
        """``text`` as the emoji keyboard would have it."""
        return self.keyboard.spelt(text) if self.keyboard is not None else text

    def _read(self, said: Said) -> None:
        if said.by_bot:
            self.keyboard = Keyboard.seen_in(said.text) or self.keyboard


async def sit_at(
    chat: GroupChat,
    typing: Typing,
    legend: Legend,
    screen: Screen,
    *,
    pace_s: float,
    after_each: Callable[[], Awaitable[None]],
) -> None:
    """Play until the person leaves.

    Args:
        chat: whose admin the person is.
        typing: where the person's lines come from.
        legend: turns letters into emoji.
        screen: where the hint goes.
        pace_s: about how long a simulated player takes over a guess.
        after_each: awaited after each line; a person needs no waiting for, a pipe does.
    """
    chance = random.Random()  # noqa: S311 - nothing hangs on what a simulated player guesses
    players = [
        SimulatedPlayer(Person.named(name), chat, Mind(chance, effort), pace_s, chance)
        for name, effort in ((CAREFUL, _CAREFUL_EFFORT), (CARELESS, _CARELESS_EFFORT))
    ]
    screen.hint(HINT)
    tasks = [asyncio.create_task(player.run(), name="simulated player") for player in players]
    try:
        # Whoever comes back sees where the round stands, and so does everybody at the table.
        chat.post(chat.admin, "/board")
        await after_each()
        async for line in typing.lines():
            if line.strip():
                chat.post(chat.admin, legend.spelt(line.strip()))
                await after_each()
                if (said := advice(line.strip(), legend.keyboard)) is not None:
                    screen.hint(said)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
