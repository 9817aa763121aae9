"""Ten rooms that guess and one that floods: who is where, and what they say in one round of chaos.

A player has a name that no other has, and says guesses of which no two of one round of chaos have the same total: so
a line of an answer tells whose guesses it answers, and how many of them.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from bot.fake_telegram import Chat, FakeTelegram, User
from bot.fake_telegram.ledger import Entry
from bot.fake_telegram.messages import Message
from engine.game.scoring import WINNING_TOTAL, Scorer
from engine.game.themes import theme
from tests.chaos.ground import Ground, until

THEME: Final = "fruits"
MINUTES: Final = 1_440
QUIET_ROOMS: Final = 10
QUIET_PLAYERS: Final = 3
FLOODERS: Final = 4
_OPEN_S: Final = 60.0
_TRIES: Final = 400
_ANSWER: Final = re.compile(r"^\S+ \u2068(?P<name>R\d+P\d+)\u2069: (?P<totals>\d+(?: · \d+)*) / 600")


@dataclass(frozen=True, slots=True)
class Said:
    """A guess: who said it where, its codes, and what it must come to."""

    player: str
    chat: Chat
    message: Message
    codes: tuple[str, ...]
    total: int

    @property
    def key(self) -> tuple[int, int]:
        """How SQL knows it."""
        return self.chat.id, self.message.id

    def __str__(self) -> str:
        return f"{self.player} {self.total} (chat {self.chat.id}, message {self.message.id})"


@dataclass(slots=True)
class Room:
    """A chat with a round in it. ``over``: its round was cracked."""

    chat: Chat
    players: list[User]
    number: int = 0
    over: bool = True
    secret: tuple[str, ...] = ()
    keyboard: tuple[str, ...] = ()

    def guesses(self, chance: random.Random, most: int) -> list[tuple[tuple[str, ...], int]]:
        """So many guesses with different totals, or as many as are found; none cracks the secret."""
        scorer, found = Scorer(self.secret), dict[int, tuple[str, ...]]()
        for _ in range(_TRIES):
            if len(found) == most:
                break
            codes = tuple(chance.choices(self.secret if chance.random() < 0.6 else self.keyboard, k=len(self.secret)))
            found.setdefault(scorer.score(codes).total, codes)
        found.pop(WINNING_TOTAL, None)
        return [(codes, total) for total, codes in found.items()]


@dataclass(frozen=True, slots=True)
class Line:
    """Something to say, ``at_s`` after the round's begin."""

    at_s: float
    room: Room
    player: User
    codes: tuple[str, ...]
    total: int


@dataclass(slots=True)
class Rooms:
    """All of them; the last one floods."""

    ground: Ground
    rooms: list[Room] = field(default_factory=list)

    @property
    def telegram(self) -> FakeTelegram:
        return self.ground.telegram

    def settle_in(self) -> None:
        """Make the chats and the people."""
        world = self.telegram.world
        for number in range(QUIET_ROOMS + 1):
            count = FLOODERS if number == QUIET_ROOMS else QUIET_PLAYERS
            players = [world.user(f"R{number}P{player}") for player in range(count)]
            self.rooms.append(Room(world.supergroup(f"Room {number}", players[0], players[1:]), players))

    async def open(self) -> None:
        """Begin a round in every room that has none.

        Raises:
            TimeoutError: a room was not told of its new round.
        """
        shut = [room for room in self.rooms if room.over]
        async with asyncio.timeout(_OPEN_S):
            for room in shut:
                room.number += 1
                self.telegram.crowd.say(room.players[0], room.chat, f"/newgame {THEME} {MINUTES}")
            for room in shut:
                await until(partial(self._told_of_its_round, room))
        for room in shut:
            (row,) = await self.ground.rows(
                "SELECT rounds.secret, rounds.keyboard FROM rounds JOIN rooms ON rooms.id = rounds.room "
                "JOIN chats ON chats.id = rooms.chat WHERE chats.chat_ref = $1 AND rounds.number = $2",
                room.chat.id,
                room.number,
            )
            room.secret, room.keyboard = tuple(row["secret"].split()), tuple(row["keyboard"].split())
            room.over = False

    def _told_of_its_round(self, room: Room) -> bool:
        return any(f"Round {room.number} ·" in text for text in self.telegram.ledger.texts(room.chat)[-3:])

    def script(self, chance: random.Random, span_s: float, flood: int, cracked: Room | None) -> list[Line]:
        """What is said in one round of chaos: a few guesses a player, a flood, and a crack as the last of its room."""
        lines: list[Line] = []
        for room in self.rooms:
            floods = room is self.rooms[-1]
            for player in room.players:
                most = flood // FLOODERS if floods else chance.randint(1, 5)
                for codes, total in room.guesses(chance, most):
                    lines.append(Line(chance.random() * span_s * (0.5 if floods else 0.95), room, player, codes, total))
        if cracked is not None:
            lines.append(Line(span_s, cracked, chance.choice(cracked.players), cracked.secret, WINNING_TOTAL))
        return sorted(lines, key=lambda line: line.at_s)

    async def say(self, lines: Iterable[Line], said: list[Said]) -> None:
        """Say each line in its time, and note it in ``said``."""
        set_, began_s = theme(THEME), asyncio.get_running_loop().time()
        for line in lines:
            await asyncio.sleep(max(0.0, began_s + line.at_s - asyncio.get_running_loop().time()))
            message = self.telegram.crowd.say(line.player, line.room.chat, set_.show(line.codes))
            said.append(Said(line.player.first_name, line.room.chat, message, line.codes, line.total))


@dataclass(slots=True)
class Shown:
    """Answers that chats showed: how often each player was told each total, and where."""

    totals: Counter[tuple[int, str, int]] = field(default_factory=Counter)
    """By chat, player and total."""
    again: set[int] = field(default_factory=set)
    """Places in the ledger of messages that told something once more."""

    @classmethod
    def in_entries(cls, entries: Iterable[Entry]) -> Shown:
        """Read what was sent: an answer alone, or those of many that share a message or a line."""
        shown = cls()
        for place, entry in enumerate(entries):
            for line in entry.text.splitlines():
                found = _ANSWER.match(line)
                for total in found["totals"].split(" · ") if found else ():
                    key = (entry.chat_id, found["name"] if found else "", int(total))
                    shown.totals[key] += 1
                    if shown.totals[key] > 1:
                        shown.again.add(place)
        return shown
