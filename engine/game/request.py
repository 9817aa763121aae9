"""What comes in from the outer world, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from engine.game.model import Account, Place, Source


class Receipt(StrEnum):
    """What became of an update: it is safe (``durable``), or there was nothing to keep (``refused``).

    Without one an update must not be acknowledged.
    """

    DURABLE = "durable"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Request:
    """A message from ``account`` at ``place``. ``account`` is None where an admin hides behind the chat itself."""

    place: Place
    account: Account | None
    source: Source


class Inbox(Protocol):
    """Which messages with an effect have been taken."""

    async def first(self, source: Source, taken_ms: int) -> bool:
        """Record ``source``; False where it was there already. Holds in the same transaction as its effect."""

    async def prune(self, taken_before_ms: int, limit: int) -> int:
        """Forget up to ``limit`` of those taken before; answers how many."""
