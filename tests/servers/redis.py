"""The Redis-compatible server of one test session: the wheel's Valkey, or the one the environment names."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from bot.embedded import EmbeddedValkey

SERVER: Final = "CODEMOJEX_TEST_REDIS_SERVER"
"""Names another server's program for the second leg, as in ``CODEMOJEX_TEST_REDIS_SERVER=redis-server``."""


def test_server(data_dir: Path) -> EmbeddedValkey:
    """A server without durability, for one session."""
    name = os.environ.get(SERVER)
    found = shutil.which(name) if name else None
    if name and found is None:
        raise RuntimeError(f"{SERVER} names {name}, which is not on PATH")
    options = {"appendonly": "no", "enable-debug-command": "yes", "hz": "100"}
    return EmbeddedValkey(data_dir, binary=Path(found) if found else None, options=options)
