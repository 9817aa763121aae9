"""What the workers need from the bot: who speaks to chats, and who is told how the work goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from engine.game.ports import OutboxItem
from engine.lanes import Observer, Unobserved


@dataclass(frozen=True, slots=True)
class Told:
    """The first ``count`` notices were said in one message; leave the chat alone for ``cooldown_ms``.

    A send whose reply never came counts as said: saying it again could show it twice.
    """

    count: int
    cooldown_ms: int


@dataclass(frozen=True, slots=True)
class TryLater:
    """Nothing was said, for certain; the outer world asks to wait ``delay_ms`` (or it could not be reached)."""

    delay_ms: int
    reason: str


@dataclass(frozen=True, slots=True)
class Moved:
    """Nothing was said: the chat has become another one, ``chat_ref``, and its notices go there."""

    chat_ref: int


@dataclass(frozen=True, slots=True)
class Unreachable:
    """The chat can't be spoken to any more (kicked, deleted), or that thread of it can't; its notices are dropped."""

    reason: str
    whole_chat: bool = True


Delivered = Told | TryLater | Moved | Unreachable


class Messenger(Protocol):
    """Speaks to chats. Implemented by the bot."""

    async def say(self, items: Sequence[OutboxItem]) -> Delivered:
        """Say notices of one chat and one thread in one message: as many from the front as fit, at least one.

        Never raises for what the outer world answers; a notice that can't be put into words is a bug and raises.
        """
        ...


Observing = Callable[[str, int], Observer]
"""Who is told what befalls the worker of a queue, given the queue's name and how long its leases last (ms)."""


def unobserved(queue: str, lease_ms: int) -> Observer:
    """Nobody is told."""
    del queue, lease_ms
    return Unobserved()
