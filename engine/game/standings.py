"""The order of the players of a round."""

from __future__ import annotations

from collections.abc import Iterable

from engine.game.model import Standing
from engine.game.notices import Line
from engine.game.scoring import percent


def rank(standings: Iterable[Standing]) -> tuple[Line, ...]:
    """Put standings in order: best total first, then the smaller seq that reached it; ranks count from 1."""
    ordered = sorted(standings, key=lambda standing: (-standing.best_total, standing.best_seq))
    return tuple(
        Line(place, standing.player, standing.best_total, percent(standing.best_total), standing.guesses)
        for place, standing in enumerate(ordered, start=1)
    )
