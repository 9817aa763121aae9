"""A simulated player: a member of the chat that reads what the chat shows, and guesses at a human pace."""

from __future__ import annotations

import asyncio
import random
import re
from typing import Final

from bot.terminal.chat import GroupChat, Said
from bot.terminal.keyboard import Keyboard
from bot.terminal.markup import printable
from bot.terminal.mind import Guess, Mind
from bot.terminal.people import Person
from engine.game.scoring import WINNING_TOTAL

_OVER: Final = re.compile(r"is over|cracked it|No round is running|has just closed")
_INVISIBLE: Final = "\u2060"
_PATIENCE_IN_PACES: Final = 5


class SimulatedPlayer:
    """Plays while a round runs: one guess at a time, the next once the chat told what the last one was worth.

    Args:
        person: who it is.
        chat: where it plays.
        mind: how it thinks.
        pace_s: about how long it takes over a guess.
        chance: what makes it irregular.
    """

    def __init__(self, person: Person, chat: GroupChat, mind: Mind, pace_s: float, chance: random.Random) -> None:
        self._person = person
        self._chat = chat
        self._mind = mind
        self._pace_s = pace_s
        self._chance = chance
        self._keyboard: Keyboard | None = None
        self._plays = False
        self._waits_for: Guess | None = None
        self._news = asyncio.Event()
        self._own_total = re.compile(rf"(?<!\S){re.escape(person.name)}: (\d+) / {WINNING_TOTAL}")
        chat.watch(self._read)

    async def run(self) -> None:
        """Play until cancelled."""
        while True:
            if not self._plays:
                await self._heard(None)
                continue
            await asyncio.sleep(self._pace_s * self._chance.uniform(0.6, 1.6))
            if not await self._guess():
                # Nobody answered: the room is paused, or the round ended unseen. Later, perhaps.
                await asyncio.sleep(self._pace_s * _PATIENCE_IN_PACES)

    async def _guess(self) -> bool:
        """Guess, unless the round ended meanwhile; False where nobody answers."""
        if not self._plays:
            return True
        self._waits_for = guess = self._mind.guess()
        self._chat.post(self._person, "".join(guess))
        deadline = asyncio.get_running_loop().time() + max(self._pace_s * _PATIENCE_IN_PACES, 5)
        while self._waits_for is guess and self._plays:
            if not await self._heard(deadline - asyncio.get_running_loop().time()):
                self._waits_for = None
                return False
        return True

    async def _heard(self, timeout_s: float | None) -> bool:
        self._news.clear()
        try:
            # Not wait_for: Python 3.11's forgets a cancellation that comes with the news, and the player would stay.
            async with asyncio.timeout(timeout_s):
                await self._news.wait()
        except TimeoutError:
            return False
        return True

    def _read(self, said: Said) -> None:
        if not said.by_bot:
            return
        text = printable(said.text).replace(_INVISIBLE, "")
        keyboard = Keyboard.seen_in(text)
        total = self._own_total.search(text)
        if keyboard is not None:
            self._plays = True
            if keyboard != self._keyboard:
                self._keyboard, self._waits_for = keyboard, None
                self._mind.begin(keyboard.emoji)
        elif total is not None and self._waits_for is not None:
            self._mind.learn(self._waits_for, int(total[1]))
            self._waits_for = None
        if keyboard is None and _OVER.search(text):
            self._plays = False
        self._news.set()
