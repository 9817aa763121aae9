"""``codemojex flood`` through the whole product: bot, worker, both servers and a strict Telegram."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.cli.program import codemojex, started
from tests.waiting import wait_until

SHORT = ("flood", "--seconds", "5", "--quiet-rooms", "2", "--quiet-rate", "5", "--flood-players", "2")


@pytest.mark.timeout(240)
@pytest.mark.parametrize("database", ["postgresql", "sqlite"])
async def test_every_guess_of_a_flood_is_scored_once_or_refused_with_an_eta(tmp_path: Path, database: str) -> None:
    asked = ("--flood-guesses", "600", "--ceiling", "1", "--cap", "20", "--database", database, "--json", "told.json")
    done = await codemojex(tmp_path, *SHORT, *asked, "--assert-exactly-once", "--assert-ceiling")
    assert done.code == 0, done.out + done.err
    told = json.loads((tmp_path / "told.json").read_text())
    assert told["sent"] == told["scored"] + told["refused"]
    assert told["refused"] > 0
    assert told["breaches_of_telegram"] == 0
    assert told["quiet_done_at_service"] is not None
    assert told["phases"]["flood"]["answered_ms"]["p50"] is not None


@pytest.mark.timeout(240)
async def test_a_flood_on_one_line_is_played_beside_it(tmp_path: Path) -> None:
    done = await codemojex(tmp_path, *SHORT, "--flood-guesses", "100", "--fifo", "--json", "told.json")
    assert done.code == 0, done.out + done.err
    told = json.loads((tmp_path / "told.json").read_text())
    assert told["fifo"]["scored"] == told["fifo"]["sent"] > 100
    assert told["fifo"]["quiet_p99_ms_flood"] is not None


@pytest.mark.timeout(240)
async def test_a_bot_that_dies_half_way_leaves_a_report_and_nothing_that_runs(tmp_path: Path) -> None:
    asked = ("--seconds", "60", "--flood-guesses", "100000", "--json", "told.json")
    async with started(tmp_path, *SHORT, *asked) as running:
        await wait_until(lambda: "flood ..." in running.err, "the flood begins", 120_000)
        others = _descendants(running.pid)
        (bot,) = filter(_is_the_bot, others)
        os.kill(bot, signal.SIGKILL)
        done = await running.done()
    assert done.code == 1
    told = json.loads((tmp_path / "told.json").read_text())
    assert "the bot ended with code -9" in told["ended"]
    assert told["phases"]["idle"]["samples"] > 0
    assert not any(map(_runs, others))


def _descendants(pid: int) -> list[int]:
    children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [each for child in children for each in (child, *_descendants(child))]


def _is_the_bot(pid: int) -> bool:
    return b"\0bot\0" in Path(f"/proc/{pid}/cmdline").read_bytes()


def _runs(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()
