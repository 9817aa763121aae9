"""Stops one thread of a server that a test started, as a disk that hangs stops the thread that syncs."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

_SEIZE = 0x4206
_INTERRUPT = 0x4207
_DETACH = 17
_WALL = 0x40000000


@contextmanager
def stalled(pid: int, thread: str) -> Iterator[None]:
    """Keep the thread of this name from running; skips the test where the kernel doesn't let us (or isn't Linux)."""
    tasks = Path(f"/proc/{pid}/task")
    if not tasks.exists():
        pytest.skip("there is no /proc to find threads in")
    (tid,) = (int(task.name) for task in tasks.iterdir() if (task / "comm").read_text().strip() == thread)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    if libc.ptrace(_SEIZE, tid, None, None) != 0 or libc.ptrace(_INTERRUPT, tid, None, None) != 0:
        pytest.skip(f"this machine forbids tracing: {os.strerror(ctypes.get_errno())}")
    os.waitpid(tid, _WALL)
    try:
        yield
    finally:
        if libc.ptrace(_DETACH, tid, None, None) != 0:  # it was killed: whoever traces it is told of its end first
            with suppress(ChildProcessError):
                os.waitpid(tid, _WALL)
