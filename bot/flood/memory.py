"""How much memory a process has."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path


def resident_bytes(pid: int | None = None) -> int:
    """Bytes of ``pid`` (None: this process) that are resident; of others 0 where the system has no ``/proc``."""
    statm = Path(f"/proc/{'self' if pid is None else pid}/statm")
    try:
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        if pid is not None:
            return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1_024
