"""``python embedded_unprivileged.py COMMAND...``: becomes the command, as somebody PostgreSQL is willing to be.

PostgreSQL refuses to run as root. So root becomes nobody inside a user namespace of its own (files it makes stay
root's outside), or exits with NO_NAMESPACE where that is forbidden. Anybody else just runs the command. The kernel
asks it for a fast shutdown when the starter dies.
"""

import ctypes
import os
import signal
import sys
from pathlib import Path

NO_NAMESPACE = 71
_CLONE_NEWUSER = 0x10000000
_PR_SET_PDEATHSIG = 1
_NOBODY = 65534


def _enter_namespace(libc: ctypes.CDLL) -> None:
    if libc.unshare(_CLONE_NEWUSER) != 0:
        sys.exit(NO_NAMESPACE)
    try:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{_NOBODY} 0 1")
        Path("/proc/self/gid_map").write_text(f"{_NOBODY} 0 1")
    except OSError:
        sys.exit(NO_NAMESPACE)


if __name__ == "__main__":
    libc = ctypes.CDLL(None)
    if os.geteuid() == 0 and sys.argv[1] == "namespace":
        _enter_namespace(libc)
    elif os.geteuid() == 0:
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)
    if sys.platform == "linux":
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGINT, 0, 0, 0)
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 - no shell is wanted
