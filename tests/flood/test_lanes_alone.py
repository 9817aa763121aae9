"""``codemojex flood --engine``: as people run it, and as it is run badly."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from bot.embedded import EmbeddedValkey
from tests.cli.program import codemojex, started
from tests.waiting import wait_until

SHORT = ("flood", "--engine", "--seconds", "5", "--quiet-rooms", "3", "--quiet-rate", "10")
ASKED_FOR = {
    "quiet_p99_ms_idle",
    "quiet_p99_ms_even",
    "quiet_p99_ms_flood",
    "quiet_p99_ratio",
    "jain_index",
    "max_in_flight",
    "ceiling",
    "sent",
    "scored",
    "refused",
    "lost",
    "double",
    "quiet_done_at_service",
}


async def test_a_flood_tells_every_figure_and_draws_itself(tmp_path: Path) -> None:
    files = ("--json", "told.json", "--plot", "drawn.png")
    held = ("--assert-exactly-once", "--assert-ceiling", "--assert-done-at-service", "104", "--assert-jain", "0.9")
    done = await codemojex(tmp_path, *SHORT, "--flood-guesses", "2000", "--ceiling", "5", "--fifo", *files, *held)
    assert done.code == 0, done.out + done.err
    told = json.loads((tmp_path / "told.json").read_text())
    assert told.keys() >= ASKED_FOR
    # A flood of the lanes alone is as much as they can do, and an even load of that may not be kept up with.
    assert {name for name in ASKED_FOR if told[name] is None} <= {"quiet_p99_ratio"}
    assert told["scored"] == told["sent"] > 2_000
    assert told["fifo"]["quiet_p99_ms_flood"] > told["quiet_p99_ms_flood"]
    assert (tmp_path / "drawn.png").read_bytes().startswith(b"\x89PNG")
    assert "the lanes alone" in done.out
    assert [phase for phase in ("idle", "flood", "even") if f"{phase} ..." not in done.err] == []


async def test_a_capped_flood_is_refused_with_an_eta(tmp_path: Path) -> None:
    # A ceiling below the worker's places: else the even load is all that it can do, and quiet rooms may pile up in it.
    bounds = ("--cap", "200", "--ceiling", "2")
    asked = ("--flood-guesses", "3000", *bounds, "--job-ms", "2", "--json", "told.json")
    done = await codemojex(tmp_path, *SHORT, *asked, "--assert-exactly-once")
    told = json.loads((tmp_path / "told.json").read_text())
    assert done.code == 0, done.out + done.err
    assert told["refused"] == told["refused_told"] > 0
    assert told["max_depth"] < 200 + 50


async def test_a_broken_bound_ends_with_1_and_says_which(tmp_path: Path) -> None:
    done = await codemojex(tmp_path, *SHORT, "--flood-guesses", "50", "--assert-quiet-p99-ms", "1.001")
    assert done.code == 1
    assert "Broken: quiet_p99_ms_flood is" in done.out


async def test_an_interrupted_flood_tells_what_was_measured_until_then(tmp_path: Path) -> None:
    long = ("--seconds", "60", "--flood-guesses", "100000", "--job-ms", "5")
    async with started(tmp_path, *SHORT, *long, "--json", "told.json") as running:
        await wait_until(lambda: "flood ..." in running.err, "the flood begins", 60_000)
        running.send(signal.SIGINT)
        done = await running.done()
    told = _told(tmp_path)
    assert done.code == 130
    assert "It ended early: stopped during flood" in done.out
    assert told["phases"]["idle"]["samples"] > 0
    assert told["lost"] == 0  # what still waits is not lost
    assert told["untaken"] > 0
    assert "Traceback" not in done.err


async def test_an_even_load_is_one_that_the_machine_can_bear(tmp_path: Path) -> None:
    """A flood that is admitted faster than it is served leaves a backlog, which is no part of its pace."""
    asked = ("--flood-guesses", "4000", "--job-ms", "20", "--quiet-rooms", "4", "--plot", "no.suffix")
    done = await codemojex(tmp_path, *SHORT, *asked, "--json", "told.json")
    assert done.code == 0, done.out + done.err
    told = _told(tmp_path)
    flood, even = told["phases"]["flood"], told["phases"]["even"]
    assert flood["sent_a_second"] > 2 * flood["scored_a_second"]
    assert even["sent_a_second"] == pytest.approx(flood["scored_a_second"], rel=0.1)
    assert told["phases"]["after"]["samples"] > 0
    assert (tmp_path / "no.suffix").read_bytes().startswith(b"\x89PNG")


async def test_a_redis_that_dies_half_way_leaves_a_report(tmp_path: Path) -> None:
    server = EmbeddedValkey(tmp_path / "data")
    with server:
        asked = ("--seconds", "60", "--json", "told.json", "--redis-url", server.url)
        async with started(tmp_path, *SHORT, *asked) as running:
            await wait_until(lambda: "flood ..." in running.err, "the flood begins", 60_000)
            server.stop()
            done = await running.done()
    told = _told(tmp_path)
    assert done.code == 1
    assert "Redis went away" in told["ended"]
    assert told["phases"]["idle"]["samples"] > 0
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--redis-url", "redis://10.1.2.3:6379/0"), "leads to another machine"),
        (("--database-url", "postgresql://cm@db.example.org/cm"), "leads to another machine"),
        (("--database-url", "postgresql://cm@/cm?host=10.1.2.3"), "leads to another machine"),
        (("--assert-jain", "1.5"), "can't be kept"),
        (("--quiet-rooms", "0"), "can't be played"),
        (("--json", "nowhere/told.json"), "there is no folder"),
    ],
)
async def test_what_can_t_be_run_is_refused_in_one_line(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    done = await codemojex(tmp_path, "flood", *arguments)
    assert done.code == 2
    assert says in done.line


def _told(home: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((home / "told.json").read_text())
    return told
