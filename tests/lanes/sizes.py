"""How large the cases are: small ones hold in `make test`, the reported ones in `make soak`."""

from __future__ import annotations

import os
from typing import Final

FULL: Final = os.environ.get("CODEMOJEX_TEST_FULL") == "1"
"""Whether the cases run with the counts of their reports."""


def scaled(few: int, full: int) -> int:
    """Answer how many of something a case takes."""
    return full if FULL else few
