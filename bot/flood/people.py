"""Who plays in the whole product: chats of the strict fake, and guesses that never crack a secret."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from bot.fake_telegram import Chat, FakeTelegram, User
from bot.flood.plan import Plan
from bot.flood.samples import FLOODED
from engine.game.model import SECRET_LENGTH
from engine.game.themes import Theme, theme

TITLE: Final = "Flooded room "
"""What titles of chats begin with: so another flood knows them for a flood's."""
THEME: Final = "fruits"
MINUTES: Final = 1_440


@dataclass(slots=True)
class People:
    """Chats by the rooms' numbers, and who guesses in each."""

    telegram: FakeTelegram
    theme: Theme
    chance: random.Random
    chats: list[Chat]
    players: list[list[User]]

    @classmethod
    def settle_in(cls, telegram: FakeTelegram, plan: Plan) -> People:
        """Make the chats and the people; the first player of a chat is its owner."""
        people = cls(telegram, theme(THEME), random.Random(plan.seed), [], [])  # noqa: S311 - a repeatable load
        for room in range(plan.quiet_rooms + 1):
            count = plan.flood_players if room == FLOODED else plan.players
            players = [telegram.world.user(f"R{room}P{player}") for player in range(count)]
            people.chats.append(telegram.world.supergroup(f"{TITLE}{room}", players[0], players[1:]))
            people.players.append(players)
        return people

    def open_round(self, room: int) -> None:
        """Ask for a round."""
        self.telegram.crowd.say(self.players[room][0], self.chats[room], f"/newgame {THEME} {MINUTES}")

    def opened(self, room: int) -> bool:
        """Whether the chat was told of one."""
        return any("Round 1 ·" in text for text in self.telegram.ledger.texts(self.chats[room]))

    def guess(self, room: int, player: int, keyboard: tuple[str, ...]) -> tuple[int, int]:
        """Say a guess of the room's player of that number, counted round; answers chat and message.

        An emoji of it is said twice, which no secret does.
        """
        codes = self.chance.choices(keyboard, k=SECRET_LENGTH)
        codes[-1] = codes[0]
        players = self.players[room]
        message = self.telegram.crowd.say(players[player % len(players)], self.chats[room], self.theme.show(codes))
        return message.chat.id, message.id
