"""Waits until everything that was accepted has been scored, settled where it is due, and said."""

from __future__ import annotations

import asyncio
from typing import Final

from engine.game.model import Place, RoundState
from engine.game.ports import GuessLanes, Units

_LOOK_EVERY_S: Final = 0.01


class Quiet:
    """Looks down the path of a guess, from the lanes to the outbox.

    Each step leaves its trace in the next before it leaves its own, so looking in the order of the path misses
    nothing. Guesses that a pause keeps for later do not count.
    """

    def __init__(self, units: Units, lanes: GuessLanes) -> None:
        self._units = units
        self._lanes = lanes

    async def is_quiet(self, place: Place) -> bool:
        """Whether nothing of the room at ``place`` is under way now."""
        async with self._units.read() as work:
            room = await work.rooms.find(place)
        if room is not None and not room.paused and await self._lanes.oldest(room.id) is not None:
            return False
        if room is None:
            return True
        async with self._units.read() as work:
            round_ = await work.rounds.running(room.id)
            closing = round_ is not None and round_.state is RoundState.CLOSING
            return not (closing and not room.paused) and not await work.outbox.owes(room.chat)

    async def wait(self, place: Place) -> None:
        """Return once the room at ``place`` is quiet."""
        while not await self.is_quiet(place):  # noqa: ASYNC110 - what it waits for lives in other processes too
            await asyncio.sleep(_LOOK_EVERY_S)
