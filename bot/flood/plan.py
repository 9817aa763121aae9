"""What a flood is to be like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.errors import UsageProblem

MOST_ROOMS: Final = 500
MOST_GUESSES: Final = 1_000_000
MOST_WORKERS: Final = 64
BACKLOG: Final = 100
"""Guesses of each of two quiet rooms that wait beside the flood's, where turns are counted."""
PLACES: Final = 8
"""Jobs at once of a worker, through the lanes alone."""
FLOOD_BACKLOG: Final = 400
"""Guesses of the flooded room in the whole product that wait beside those; the lanes alone hold the whole flood."""
_LONGEST_CALM_S: Final = 60.0
_CALM: Final = 0.2
_FLOOD: Final = 0.45
_LEAST_S: Final = 5.0


class BadPlan(UsageProblem):
    """The flood can't be played as it was asked for."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What was asked for.

    Args:
        flood_guesses: how many the flooded room is to say.
        flood_players: of how many players.
        quiet_rooms: how many rooms play beside it.
        quiet_rate: guesses a second of each of them; they come at fixed times.
        workers: processes that score; through the lanes alone, workers of one process.
        seconds: how long the guesses of the whole run may take to be said; starts and ends come on top of it.
        ceiling: most guesses of a room in flight.
        cap: most guesses of the flooded room that may wait; None: any number.
        fifo: play the flood once more, on one single line.
        engine: through the lanes alone.
        job_ms: through the lanes alone, how long a job takes.
        seed: decides everything but the scheduler's moods.
    """

    flood_guesses: int = 20_000
    flood_players: int = 20
    quiet_rooms: int = 10
    quiet_rate: float = 4.0
    workers: int = 1
    seconds: float = 60.0
    ceiling: int = 8
    cap: int | None = None
    fifo: bool = False
    engine: bool = False
    job_ms: int = 1
    seed: int = 7

    def __post_init__(self) -> None:
        for name, value, least, most in (
            ("--flood-guesses", self.flood_guesses, 1, MOST_GUESSES),
            ("--flood-players", self.flood_players, 1, 10_000),
            ("--quiet-rooms", self.quiet_rooms, 2, MOST_ROOMS),
            ("--quiet-rate", self.quiet_rate, 0.1, 100.0),
            ("--workers", self.workers, 1, MOST_WORKERS),
            ("--seconds", self.seconds, _LEAST_S, 3_600.0),
            ("--ceiling", self.ceiling, 1, 100_000),
            ("--cap", self.cap if self.cap is not None else 1, 1, MOST_GUESSES),
            ("--job-ms", self.job_ms, 0, 60_000),
        ):
            if not least <= value <= most:
                raise BadPlan(f"{name} {value} can't be played; give {least} to {most}")

    @property
    def calm_s(self) -> float:
        """How long the quiet rooms play alone."""
        return min(_LONGEST_CALM_S, self.seconds * _CALM)

    @property
    def after_s(self) -> float:
        """How long they play on when the flood is over."""
        return self.calm_s / 2

    @property
    def flood_s(self) -> float:
        """The longest that the flood is said for."""
        passes = 2 if self.fifo else 1
        return max(self.seconds - 2 * self.calm_s - self.after_s, self.seconds * _FLOOD) / passes

    @property
    def players(self) -> int:
        """Players of a quiet room."""
        return 3
