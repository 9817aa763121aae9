"""What operators do to the guesses that wait. ``engine.workers`` implements it on the lanes."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from engine.game.ports import GuessLanes
from engine.ids import JobId, PlayerId, RoomId


class Moved(StrEnum):
    """What became of a guess that was to be moved."""

    REASSIGNED = "reassigned"
    NOOP = "noop"
    NOT_FOUND = "not_found"
    NOT_PENDING = "not_pending"
    FULL = "full"


class TendedLanes(GuessLanes, Protocol):
    """The lanes of guesses, with what only operators and the sweep ask of them."""

    async def remember(self) -> None:
        """Note on the lanes that all levers were told."""

    async def memory(self) -> str:
        """What the lanes' server remembers by: another one where it runs anew, or lost its data."""

    async def pause_all(self, *, paused: bool) -> None:
        """Let no guess of any room be claimed, or let them again; those of paused rooms stay."""

    async def drain(self, room: RoomId, player: PlayerId | None = None) -> int:
        """Delete the guesses that wait in the room, or those of one player; answers how many."""

    async def forget(self, room: RoomId) -> int:
        """Delete all that the lanes have of the room, guesses in flight and levers too; answers how many guesses."""

    async def room_of(self, job: JobId) -> RoomId | None:
        """The room whose lanes have the guess, or None."""

    async def reassign(self, job: JobId, room: RoomId, player: PlayerId) -> Moved:
        """Make a waiting guess another player's of the same room; it keeps its seq."""
