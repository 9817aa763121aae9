"""Finds the embedded server that another process runs in a data directory."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Final

_PATIENCE_S: Final = 1.0


def running_valkey(data_dir: Path) -> str | None:
    """Where redis-py finds the server that runs in ``data_dir``, or None where none does.

    Its owner notes in the directory's lock where the socket is. A note outlives an owner that was killed, so the
    socket is asked; and it names a place that anybody may write in, so it must be the directory's owner's.
    """
    try:
        _, folder = (data_dir / "lock").read_text(errors="replace").splitlines()[:2]
        path = Path(folder, "valkey.sock")
        if path.stat().st_uid != (data_dir / "lock").stat().st_uid:
            return None
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(_PATIENCE_S)
            client.connect(os.fspath(path))
    except (OSError, ValueError):
        return None
    return f"unix://{path}"
