"""Provably fair rounds: what opening a round publishes, so that closing it can be checked by anyone."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from engine.game.model import SECRET_LENGTH

_SEPARATOR: Final = "\x1e"


def commit(codes: Sequence[str], nonce: str) -> str:
    """Bind a secret without telling it: lower-case hex SHA-256 of the six codes and the nonce, joined by 0x1E.

    Raises:
        ValueError: the codes are not six.
    """
    if len(codes) != SECRET_LENGTH:
        raise ValueError(f"a commitment binds {SECRET_LENGTH} emoji codes, got {len(codes)}")
    return hashlib.sha256(_SEPARATOR.join((*codes, nonce)).encode()).hexdigest()


def verify(codes: Sequence[str], nonce: str, commitment: str) -> bool:
    """Whether a revealed secret and nonce are those that ``commitment`` bound."""
    return len(codes) == SECRET_LENGTH and commit(codes, nonce) == commitment
