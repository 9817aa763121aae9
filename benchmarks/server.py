"""The server of a measurement: fresh, on a unix socket, without durability unless that is measured."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.embedded import EmbeddedValkey, Fsync


@contextmanager
def valkey(*, durable: bool = False, fsync: Fsync = "always") -> Iterator[str]:
    """The address of a server that lives as long as the block; a durable one syncs every write, as the product's.

    ``fsync`` is another way for a durable one to keep its file.
    """
    with (
        tempfile.TemporaryDirectory(prefix="cmbench-") as home,
        EmbeddedValkey(Path(home), fsync=fsync, options={} if durable else {"appendonly": "no"}) as server,
    ):
        yield server.url
