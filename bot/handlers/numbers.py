"""Numbers as people type them after a command."""

from __future__ import annotations

import re
from typing import Final

BEYOND: Final = 10**9
"""Stands for every larger number: whatever the limit is, it is past it."""

_WHOLE: Final = re.compile(r"([+-]?)0*([0-9]{1,64})")


def whole(word: str) -> int | None:
    """The whole number that ``word`` is, at most ``BEYOND`` on either side of zero, or None."""
    found = _WHOLE.fullmatch(word)
    if found is None:
        return None
    size = min(int(found[2]), BEYOND)
    return -size if found[1] == "-" else size
