"""What a soak is played on: groups, their ceilings, and the names it keeps beside the queue."""

from __future__ import annotations

from typing import Final

from engine.lanes import Lanes
from tests.lanes.naming import player, room

QUEUE: Final = "cm"
KEPT: Final = [room(number) for number in range(1, 9)]
"""Nothing of these is ever deleted: whatever they admitted is done once."""
DOOMED: Final = [room(number) for number in range(9, 13)]
"""These are drained and forgotten in mid-flight."""
CEILINGS: Final = dict(zip(KEPT[:4], (1, 2, 3, 5), strict=True))
"""Set once; nobody may ever be seen above them."""
LANES: Final = [player(number) for number in range(1, 7)]
CAP: Final = 60
"""Jobs a group may have waiting, so that a look at everything stays short."""
LONGEST_LEASE_MS: Final = 1_500
LONGEST_DELAY_MS: Final = 1_500

ACTOR: Final = "actor"
"""What those who may be cut off call their connections."""
PHASE: Final = "soak:phase"
RESTING: Final = "soak:resting"
REST, WORK, END = b"rest", b"work", b"end"


async def set_up(lanes: Lanes) -> None:
    """Give the groups the levers that they keep."""
    for group, ceiling in CEILINGS.items():
        await lanes.limit(group, ceiling)
    for number, group in enumerate(KEPT + DOOMED):
        await lanes.cap(group, CAP, CAP // 3 if number % 3 == 0 else None)
