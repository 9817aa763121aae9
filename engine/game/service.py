"""The game as its callers see it: chat commands, command line and console go through this one object."""

from __future__ import annotations

from dataclasses import dataclass

from engine.game.chats import Chats
from engine.game.guessing import Guessing
from engine.game.levers import Levers
from engine.game.operators import Operators
from engine.game.rounds import Rounds
from engine.game.views import Views
from engine.game.world import World


@dataclass(frozen=True, slots=True)
class Game:
    """The use cases, grouped as the words are: guesses, rounds, levers, views, chats, and what operators do."""

    world: World
    guesses: Guessing
    rounds: Rounds
    levers: Levers
    views: Views
    chats: Chats
    operators: Operators

    @classmethod
    def on(cls, world: World) -> Game:
        """Build every use case on one world."""
        return cls(world, Guessing(world), Rounds(world), Levers(world), Views(world), Chats(world), Operators(world))
