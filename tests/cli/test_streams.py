"""Standard streams that are closed, full or read by nobody."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from tests.cli.program import PROGRAM, TIMEOUT_S, Done

SCRIPT = "Ana: /newgame fruits 10\nBen: /board\n"


async def through_a_shell(home: Path, line: str, *arguments: str) -> Done:
    """Run ``codemojex`` as ``"$@"`` of a shell's ``line``."""
    (home / "script").write_text(SCRIPT)
    process = await asyncio.create_subprocess_exec(
        "/bin/sh",
        "-c",
        line,
        "sh",
        str(PROGRAM),
        *arguments,
        cwd=home,
        env={"PATH": os.defpath, "HOME": str(home)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(TIMEOUT_S):
        out, err = await process.communicate()
    assert process.returncode is not None
    return Done(process.returncode, out.decode(), err.decode())


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
async def test_a_script_is_played_to_its_end_whatever_streams_are_closed(tmp_path: Path, closed: str) -> None:
    done = await through_a_shell(tmp_path, f'"$@" {closed}', "play", "--script", "script")
    assert done.code == 0
    assert done.err == ""
    assert sorted(path.name for path in (tmp_path / ".data").iterdir()) == [
        "codemojex.sqlite",
        "lock",
        "play.log",
        "valkey",
        "valkey.log",
    ]
    assert "Round 1" not in (tmp_path / ".data" / "lock").read_text()


async def test_without_a_standard_input_there_is_nobody_at_the_table(tmp_path: Path) -> None:
    done = await through_a_shell(tmp_path, '"$@" <&-', "play")
    assert (done.code, done.err) == (0, "")


async def test_without_a_standard_input_there_is_no_script_in_it(tmp_path: Path) -> None:
    done = await through_a_shell(tmp_path, '"$@" <&-', "play", "--script", "-")
    assert done.code == 2
    assert "no message" in done.line


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
async def test_an_output_that_is_full_is_told(tmp_path: Path) -> None:
    done = await through_a_shell(tmp_path, '"$@" > /dev/full', "play", "--script", "script")
    assert done.code == 1
    assert "No space left on device" in done.line
    assert "another output" in done.line


async def test_whoever_reads_one_line_and_goes_is_not_bothered(tmp_path: Path) -> None:
    done = await through_a_shell(tmp_path, '"$@" | head -n 1', "play", "--script", "script")
    assert (done.out, done.err) == ("[1] Ana\n", "")


@pytest.mark.parametrize("name", ["what?mode=ro", "100%41 #1", 'l\'été "x"', "two\nlines"])
async def test_a_data_directory_may_have_any_name(tmp_path: Path, name: str) -> None:
    done = await through_a_shell(tmp_path, '"$@"', "play", "--script", "script", "--data-dir", name)
    assert (done.code, done.err) == (0, "")
    assert (tmp_path / name / "codemojex.sqlite").is_file()
