"""The server of a measurement: fresh, on a unix socket, without durability."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.embedded import EmbeddedValkey


@contextmanager
def valkey() -> Iterator[str]:
    """The address of a server that lives as long as the block."""
    with (
        tempfile.TemporaryDirectory(prefix="cmbench-") as home,
        EmbeddedValkey(Path(home), options={"appendonly": "no"}) as server,
    ):
        yield server.url
