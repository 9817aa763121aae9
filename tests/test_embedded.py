"""The embedded Valkey lives exactly as long as its starter, and its directory has one server at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis import Redis

from bot import embedded_guard
from bot.embedded import (
    DataDirectoryBusy,
    DataDirectoryUnusable,
    EmbeddedError,
    EmbeddedValkey,
    NoServerBinary,
    ServerDidNotStart,
    server_binary,
)
from tests.waiting import wait_until

RUN = """
import sys, time
from pathlib import Path
from bot.embedded import EmbeddedValkey
server = EmbeddedValkey(Path(sys.argv[1])).start()
print(server.pid, server.socket_path, flush=True)
sys.stdin.read()
"""


class Run:
    """A process that starts an embedded server and then waits to be killed."""

    def __init__(self, data_dir: Path) -> None:
        self.process = subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, "-c", RUN, str(data_dir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        pid, path = self.process.stdout.readline().split()
        self.server_pid = int(pid)
        self.socket_path = Path(path)
        self.client = Redis(unix_socket_path=path)

    def gone(self) -> None:
        self.process.wait(10)
        self.client.close()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_what_was_written_is_there_after_a_stop_and_a_start(tmp_path: Path) -> None:
    with EmbeddedValkey(tmp_path) as server, Redis.from_url(server.url) as client:
        client.set("kept", "yes")
    with EmbeddedValkey(tmp_path) as server, Redis.from_url(server.url) as client:
        assert client.get("kept") == b"yes"


def test_the_server_refuses_writes_rather_than_forget_and_listens_on_no_port(tmp_path: Path) -> None:
    with EmbeddedValkey(tmp_path) as server, Redis.from_url(server.url) as client:
        wanted = {
            "maxmemory-policy": "noeviction",
            "port": "0",
            "appendonly": "yes",
            "appendfsync": "always",
            "save": "",
        }
        assert {name: client.config_get(name)[name] for name in wanted} == wanted


async def test_a_killed_run_takes_its_server_with_it_and_loses_nothing_answered(tmp_path: Path) -> None:
    run = Run(tmp_path)
    for number in range(100):
        run.client.set(f"k{number}", number)
    run.process.kill()
    run.gone()
    with EmbeddedValkey(tmp_path) as server, Redis.from_url(server.url) as client:  # at once, as a user would
        assert client.dbsize() == 100
    await wait_until(lambda: not alive(run.server_pid), "the killed run's server is gone")


async def test_a_killed_run_leaves_no_socket_directory_behind_its_successor(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.process.kill()
    run.gone()
    with EmbeddedValkey(tmp_path):
        assert not run.socket_path.parent.exists()


async def test_a_killed_server_loses_nothing_answered(tmp_path: Path) -> None:
    server = EmbeddedValkey(tmp_path)
    with server, Redis.from_url(server.url) as client:
        client.set("kept", "yes")
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)
        await wait_until(lambda: server.pid is None, "the server is dead")
    with server, Redis.from_url(server.url) as client:
        assert client.get("kept") == b"yes"


async def test_a_signal_to_our_process_group_reaches_the_server_only_through_us(tmp_path: Path) -> None:
    run = Run(tmp_path)
    assert os.getpgid(run.server_pid) != os.getpgid(run.process.pid)
    assert os.getsid(run.server_pid) != os.getsid(run.process.pid)
    os.killpg(run.process.pid, signal.SIGKILL)
    run.gone()
    await wait_until(lambda: not alive(run.server_pid), "the server followed its starter in order")
    assert "ready to exit" in (tmp_path / "valkey.log").read_text()


def test_a_second_run_in_the_same_directory_is_told_who_holds_it(tmp_path: Path) -> None:
    with (
        EmbeddedValkey(tmp_path),
        pytest.raises(DataDirectoryBusy, match=f"{tmp_path}.*process {os.getpid()};.*--data-dir"),
    ):
        EmbeddedValkey(tmp_path, busy_timeout_ms=20).start()
    EmbeddedValkey(tmp_path).start().stop()


async def test_the_directory_stays_locked_while_a_killed_runs_server_still_lives(tmp_path: Path) -> None:
    run = Run(tmp_path)
    os.kill(run.server_pid, signal.SIGSTOP)
    run.process.kill()
    run.gone()
    with pytest.raises(DataDirectoryBusy):
        EmbeddedValkey(tmp_path, busy_timeout_ms=20).start()
    waking = threading.Timer(0.05, os.kill, (run.server_pid, signal.SIGCONT))
    waking.start()
    EmbeddedValkey(tmp_path).start().stop()
    waking.join()


def test_two_directories_have_two_servers(tmp_path: Path) -> None:
    with (
        EmbeddedValkey(tmp_path / "a") as one,
        EmbeddedValkey(tmp_path / "b") as other,
        Redis.from_url(one.url) as client,
        Redis.from_url(other.url) as stranger,
    ):
        client.set("mine", 1)
        assert stranger.dbsize() == 0


@pytest.mark.parametrize("below", ["", "deeper"])
def test_a_directory_that_cannot_be_made_says_so_in_one_line(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataDirectoryUnusable, match=r"file.*--data-dir") as raised:
        EmbeddedValkey(tmp_path / "file" / below).start()
    assert "\n" not in str(raised.value)


@contextmanager
def powerless() -> Iterator[None]:
    """Root may write anywhere, so root is nobody meanwhile."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_a_directory_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    server = EmbeddedValkey(tmp_path, binary=server_binary())
    with powerless(), pytest.raises(DataDirectoryUnusable, match=r"Permission denied.*--data-dir"):
        server.start()


def test_a_server_that_refuses_to_start_is_quoted_in_one_line_and_leaves_the_directory_free(tmp_path: Path) -> None:
    with pytest.raises(ServerDidNotStart, match="not-a-number") as raised:
        EmbeddedValkey(tmp_path, options={"databases": "not-a-number"}).start()
    assert "\n" not in str(raised.value)
    EmbeddedValkey(tmp_path).start().stop()


def test_a_program_that_is_no_server_is_not_waited_for(tmp_path: Path) -> None:
    with pytest.raises(ServerDidNotStart):
        EmbeddedValkey(tmp_path, binary=tmp_path / "missing").start()


def test_a_server_that_says_nothing_is_given_up(tmp_path: Path) -> None:
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\nexec sleep 60\n")
    silent.chmod(0o700)
    with pytest.raises(ServerDidNotStart, match="said nothing"):
        EmbeddedValkey(tmp_path, binary=silent, start_timeout_ms=100).start()


def test_a_platform_without_a_server_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(NoServerBinary, match="REDIS_URL"):
        server_binary()


def test_a_stopped_server_can_be_stopped_again_and_started_again(tmp_path: Path) -> None:
    server = EmbeddedValkey(tmp_path).start()
    pid = server.pid
    server.stop()
    server.stop()
    assert pid is not None
    assert not alive(pid)
    with pytest.raises(EmbeddedError, match=r"start\(\)"):
        _ = server.url
    with server:
        assert server.pid != pid


def test_a_running_server_is_not_started_twice(tmp_path: Path) -> None:
    with EmbeddedValkey(tmp_path) as server, pytest.raises(EmbeddedError, match="runs already"):
        server.start()


def test_a_server_that_ignores_its_end_is_ended_by_force(tmp_path: Path) -> None:
    server = EmbeddedValkey(tmp_path).start()
    pid = server.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    server.stop(timeout_ms=20)
    assert not alive(pid)


def test_only_the_main_thread_may_start_it(tmp_path: Path) -> None:
    raised: list[BaseException] = []

    def start() -> None:
        try:
            EmbeddedValkey(tmp_path).start()
        except EmbeddedError as error:
            raised.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert "main thread" in str(raised[0])


def test_a_long_temporary_directory_does_not_break_the_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    with EmbeddedValkey(tmp_path / "data") as server, Redis.from_url(server.url) as client:
        assert client.ping()
    assert not list(long.iterdir())


def guarded(mark: Path) -> subprocess.Popen[bytes]:
    """Another command under the guard that other systems than Linux have; it needs nothing of theirs."""
    command = ["/bin/sh", "-c", f"echo $$ > {mark}; exec sleep 60"]
    return subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, embedded_guard.__file__, "stdin", "0", *command],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )


async def test_where_the_kernel_cannot_end_the_server_a_guard_does(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    with guarded(mark) as guard:
        pid = int(await wait_until(lambda: mark.exists() and mark.read_text().strip(), "the command runs"))
        assert guard.stdin is not None
        guard.stdin.close()
        guard.wait(10)
    assert not alive(pid)


async def test_the_guard_passes_its_own_end_on(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    with guarded(mark) as guard:
        pid = int(await wait_until(lambda: mark.exists() and mark.read_text().strip(), "the command runs"))
        guard.terminate()
        guard.wait(10)
    assert not alive(pid)
