"""Runs a server that must not outlive the process that asked for it.

``python embedded_guard.py prctl PARENT COMMAND...`` (Linux) becomes the command, after asking the kernel to end
it when its parent dies. ``python embedded_guard.py stdin PARENT COMMAND...`` (elsewhere) stays beside the command
and ends it when standard input closes, which happens when the parent dies, however it dies.

It is a program of its own, so that nothing of ours runs between fork and exec of a process that may have threads.
"""

import ctypes
import os
import signal
import subprocess
import sys
import threading

_PR_SET_PDEATHSIG = 1

# The embedded server has no allocator of its own, and a script makes and drops some dozens of small blocks a job: glibc
# as it comes keeps seven of a size at hand and merges the rest, which took a fifth to a quarter of a script's time.
_ALLOCATOR = b"glibc.malloc.tcache_count=2000:glibc.malloc.tcache_max=4096"


def _become(parent: int, command: list[str]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    libc.setenv(b"GLIBC_TUNABLES", _ALLOCATOR, 0)  # an operator's own stay
    if os.getppid() == parent:  # else it died before the kernel was told
        os.execv(command[0], command)  # noqa: S606 - no shell is wanted


def _stay_beside(command: list[str]) -> int:
    server: subprocess.Popen[bytes] | None = None
    ended = threading.Event()

    def end(*_: object) -> None:
        ended.set()
        if server is not None:
            server.terminate()

    def end_with_parent() -> None:
        while os.read(0, 4096):
            pass
        end()

    signal.signal(signal.SIGTERM, end)
    # close_fds=False: the lock on the data directory reaches the server through here.
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, close_fds=False)  # noqa: S603 - our own command
    if ended.is_set():  # the signal came before there was a server to end
        server.terminate()
    threading.Thread(target=end_with_parent, daemon=True).start()
    return server.wait()


if __name__ == "__main__":
    way, parent, *command = sys.argv[1:]
    if way == "prctl":
        _become(int(parent), command)
    else:
        sys.exit(_stay_beside(command))
