"""Every name that a queue's data has in Redis; `lua/include/keys.lua` spells the same ones inside scripts.

All keys of a queue share the hash tag ``{queue}``, so they live in one slot of a cluster.
"""

from __future__ import annotations

import re
from typing import Final

from engine.lanes.errors import BadArgument

_QUEUE: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.ASCII)


class Keys:
    """The names of one queue's keys.

    Raises:
        BadArgument: the queue's name could break out of its hash tag, or is over 64 characters.
    """

    __slots__ = ("base",)

    def __init__(self, queue: object) -> None:
        if not isinstance(queue, str) or _QUEUE.fullmatch(queue) is None:
            raise BadArgument(
                "queue", queue, "1 to 64 of a-z, 0-9, dot, dash and underscore, starting with a letter or digit"
            )
        self.base: Final = f"emq:{{{queue}}}:"

    @property
    def wake(self) -> str:
        """The list of wake tokens."""
        return f"{self.base}wake"

    @property
    def ring(self) -> str:
        """The list of groups that can be served."""
        return f"{self.base}ring"

    @property
    def state(self) -> str:
        """The hash of what is counted of the whole queue."""
        return f"{self.base}state"

    @property
    def out(self) -> str:
        """The index of leased, scheduled and dead entries; each begins with its group."""
        return f"{self.base}out"

    @property
    def taken(self) -> str:
        """The set of groups that somebody speaks for."""
        return f"{self.base}taken"

    @property
    def by_group(self) -> tuple[str, ...]:
        """The hashes that have a field for each group that is not idle; it ends or begins with the group."""
        return tuple(f"{self.base}{name}" for name in ("gdepth", "gactive", "gstamp", "gflow", "ldelayed", "served"))

    def dedup(self, key: bytes) -> bytes:
        """The memory of one dedup key."""
        return f"{self.base}d:".encode() + key

    @property
    def depths(self) -> str:
        """The hash of how many jobs of each group are waiting or scheduled."""
        return f"{self.base}gdepth"
