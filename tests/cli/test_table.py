"""The terminal's chat by hand: through a pipe, and at a terminal."""

from __future__ import annotations

import asyncio
import os
import pty
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from tests.cli.program import PROGRAM, TIMEOUT_S, Running, codemojex, started
from tests.waiting import wait_until

NEVER = "10000"
_CURSOR_POSITION_ASKED = b"\x1b[6n"


async def test_letters_from_a_pipe_are_posted_as_the_keyboard_s_emoji(tmp_path: Path) -> None:
    typed = "/newgame fruits 5\nabcdef\nhello\n/me\n/bord\n"
    done = await codemojex(tmp_path, "play", "--pace", NEVER, stdin=typed)
    assert (done.code, done.err) == (0, "")
    assert re.search(r"You: \d+ / 600", done.out)
    assert "abcdef" not in done.out
    assert "\n  hello\n\nNo guess: 5 letters" in done.out
    assert "\n  /bord\n\nThe bot knows no /bord" in done.out
    assert "best" in done.out.partition("/me")[2]


async def test_a_second_run_goes_on_where_the_first_stopped(tmp_path: Path) -> None:
    await codemojex(tmp_path, "play", "--pace", NEVER, stdin="/newgame fruits 60\nabcdef\n/quit\nnever said\n")
    done = await codemojex(tmp_path, "play", "--pace", NEVER, stdin="fedcba\n/board\n")
    assert "Round 1" in done.out.partition("/board")[2]
    assert "1 player · 2 guesses" in done.out
    assert "never said" not in done.out


def matches(running: Running, pattern: str) -> bool:
    return re.search(pattern, running.out) is not None


async def test_the_simulated_players_guess_and_are_answered(tmp_path: Path) -> None:
    async with started(tmp_path, "play", "--pace", "0.05") as running:
        await running.said("No round is running")
        running.type("/newgame fruits 5\n")
        for pattern in (r"Mira: \d+ / 600", r"Theo: \d+ / 600"):
            await wait_until(partial(matches, running, pattern), f"it says {pattern}", 60_000)
        await running.said("cracked it!")
        running.close()
        assert (await running.done()).code == 0


async def test_it_leaves_when_it_is_asked_to(tmp_path: Path) -> None:
    async with started(tmp_path, "play", "--pace", NEVER) as running:
        await running.said("No round is running")
        running.send(signal.SIGTERM)
        done = await running.done()
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("The game is kept in .data: the same command goes on from here.\n\n")


class Terminal:
    """A terminal with the program in it; it answers where its cursor is, as real ones do."""

    def __init__(self, terminal: int, process: asyncio.subprocess.Process) -> None:
        self._terminal = terminal
        self._process = process
        self.shown = b""
        asyncio.get_running_loop().add_reader(terminal, self._read)

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    async def shows(self, pattern: str) -> None:
        await wait_until(lambda: re.search(pattern, self.text), f"the terminal shows {pattern}", 60_000)

    @property
    def text(self) -> str:
        """What was written, without the sequences that steer."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.shown.decode(errors="replace")).replace("\r", "")

    async def ends(self) -> int:
        async with asyncio.timeout(TIMEOUT_S):
            return await self._process.wait()

    def _read(self) -> None:
        try:
            read = os.read(self._terminal, 65536)
        except OSError:  # the program has gone
            asyncio.get_running_loop().remove_reader(self._terminal)
            return
        self.shown += read
        if _CURSOR_POSITION_ASKED in read:
            os.write(self._terminal, b"\x1b[1;1R")


@asynccontextmanager
async def terminal(home: Path, *arguments: str) -> AsyncIterator[Terminal]:
    """Run the program at a terminal."""
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        PROGRAM,
        *arguments,
        cwd=home,
        env={"PATH": os.defpath, "HOME": str(home), "TERM": "xterm-256color"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Terminal(ours, process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        asyncio.get_running_loop().remove_reader(ours)
        os.close(ours)


async def test_at_a_terminal_the_keyboard_stands_over_the_input_line(tmp_path: Path) -> None:
    async with terminal(tmp_path, "play", "--pace", NEVER) as screen:
        await screen.shows("No round is running")
        screen.type("/newgame fruits 5\r")
        await screen.shows(r"a\S+ b\S+ c\S+ .* p\S+\s+You>")
        screen.type("abcdef\r")
        await screen.shows(r"You: \d+ / 600")
        screen.type("\x04")
        assert await screen.ends() == 0
    assert b"\x1b[1;32mCodemojex" in screen.shown


async def test_ctrl_c_leaves_too(tmp_path: Path) -> None:
    async with terminal(tmp_path, "play", "--pace", NEVER) as screen:
        await screen.shows("No round is running")
        screen.type("\x03")
        await screen.shows("the same command goes on from here")
        assert await screen.ends() == 0
        assert "Traceback" not in screen.text
