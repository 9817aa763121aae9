"""Who sits at the terminal's chat: numbers for accounts and chats that stay the same from run to run."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

_CHAT_NAMESPACE: Final = "chat"
_ACCOUNT_NAMESPACE: Final = "account"
_FIRST_SUPERGROUP: Final = -1_000_000_000_000
# Above every account that has a meaning of its own (service messages, anonymous admins, channels), below 52 bits.
_FIRST_ACCOUNT: Final = 1 << 40
_MOST: Final = 900_000_000_000


@dataclass(frozen=True, slots=True)
class Person:
    """A member of the chat."""

    account_ref: int
    name: str

    @classmethod
    def named(cls, name: str) -> Person:
        """The person of that name, in every chat and run."""
        return cls(_FIRST_ACCOUNT + _number(_ACCOUNT_NAMESPACE, name), name)


def chat_ref(name: str) -> int:
    """The number of the chat called ``name``: negative, as a supergroup's."""
    return _FIRST_SUPERGROUP - 1 - _number(_CHAT_NAMESPACE, name)


def _number(namespace: str, name: str) -> int:
    digest = hashlib.sha256(f"{namespace}\x1e{name}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) % _MOST
