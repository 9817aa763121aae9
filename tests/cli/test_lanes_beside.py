"""``codemojex lanes`` beside a program that runs: found through its data directory, watched on a terminal."""

from __future__ import annotations

import asyncio
import os
import pty
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from bot.embedded_running import running_valkey
from tests.cli.program import PROGRAM, codemojex, started
from tests.waiting import wait_until


async def test_a_program_on_servers_of_its_own_is_reached_through_its_data_directory(tmp_path: Path) -> None:
    async with started(tmp_path, "play", "--pace", "3600") as playing:
        playing.type("/newgame fruits 30\n")
        await playing.said("Round 1")
        assert running_valkey(tmp_path / ".data") is not None
        done = await codemojex(tmp_path, "lanes", "plan", "set", "gold", "--weight", "2", "--json")
        assert (done.code, done.err) == (0, "")
        elsewhere = await codemojex(tmp_path, "lanes", "plans", "--data-dir", "elsewhere")
        assert elsewhere.code == 1
        assert "nothing runs in" in elsewhere.line
        playing.close()
        assert (await playing.done()).code == 0
    assert running_valkey(tmp_path / ".data") is None
    ended = await codemojex(tmp_path, "lanes", "status")
    assert ended.code == 1
    assert "codemojex up" in ended.line


async def test_a_program_that_was_killed_does_not_run(tmp_path: Path) -> None:
    async with started(tmp_path, "play", "--pace", "3600") as playing:
        playing.type("/newgame fruits 30\n")
        await playing.said("Round 1")
        playing.send(signal.SIGKILL)
        await playing.done()
        await wait_until(lambda: running_valkey(tmp_path / ".data") is None, "its server is gone too")
    assert "nothing runs in" in (await codemojex(tmp_path, "lanes", "status")).line


@pytest.mark.parametrize("lock", ["", "\n\n", "12", "1\n/nowhere\n", "\0\n\0\n", "1\n" + "x" * 5_000 + "\n"])
def test_whatever_stands_in_a_lock_it_is_only_a_hint(tmp_path: Path, lock: str) -> None:
    (tmp_path / "lock").write_text(lock)
    assert running_valkey(tmp_path) is None


async def test_status_is_a_live_table_on_a_terminal_and_ends_at_ctrl_c(tmp_path: Path, redis_url: str) -> None:
    address = f"sqlite:///{tmp_path}/x.sqlite"
    assert (await codemojex(tmp_path, "migrate", DATABASE_URL=address)).code == 0
    environment = {
        "PATH": os.defpath,
        "TERM": "xterm",
        "COLUMNS": "120",
        "LINES": "30",
        "REDIS_URL": redis_url,
        "DATABASE_URL": address,
    }
    shown, terminal = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        PROGRAM, "lanes", "status", "--every", "0.1", stdout=terminal, env=environment, cwd=tmp_path
    )
    os.close(terminal)
    os.set_blocking(shown, False)
    seen = bytearray()

    def shows(words: str, times: int = 1) -> bool:
        with suppress(OSError):  # nothing new, or it has ended
            seen.extend(os.read(shown, 1 << 16))
        return seen.count(words.encode()) >= times

    try:
        await wait_until(lambda: shows("nothing waits", 3), "the table moves on", 60_000)
        process.send_signal(signal.SIGINT)
        await wait_until(lambda: shows("\x1b[?25h"), "the cursor is back")
        assert await asyncio.wait_for(process.wait(), 20) == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        os.close(shown)
