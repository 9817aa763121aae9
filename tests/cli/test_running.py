"""Jobs that run side by side end together, and a signal asks before it insists."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys

import pytest

from bot.running import Stop, run, together

STUBBORN = """
import asyncio
from bot.running import run
async def main(stop):
    print("runs", flush=True)
    await stop.wait()
    print("asked", flush=True)
    await asyncio.Event().wait()
run(main)
"""


class Broken(Exception):  # noqa: N818 - reads as what happened
    """A job's own fault."""


async def until(stop: asyncio.Event, ended: list[str]) -> None:
    await stop.wait()
    ended.append("gracefully")


async def fails() -> None:
    raise Broken


async def test_when_one_job_ends_the_others_are_asked_to() -> None:
    ended: list[str] = []
    stop = asyncio.Event()
    await asyncio.wait_for(together(stop, until(stop, ended), asyncio.sleep(0), until(stop, ended)), 5)
    assert ended == ["gracefully", "gracefully"]


async def test_when_one_job_fails_the_others_end_gracefully_and_the_fault_comes_out() -> None:
    ended: list[str] = []
    stop = asyncio.Event()
    with pytest.raises(Broken):
        await asyncio.wait_for(together(stop, until(stop, ended), fails()), 5)
    assert ended == ["gracefully"]


async def test_when_it_is_cancelled_its_jobs_are() -> None:
    both = asyncio.create_task(together(asyncio.Event(), asyncio.sleep(3600), asyncio.sleep(3600)))
    await asyncio.sleep(0)
    before = len(asyncio.all_tasks())
    both.cancel()
    with pytest.raises(asyncio.CancelledError):
        await both
    assert len(asyncio.all_tasks()) == before - 3


def test_the_first_signal_asks() -> None:
    async def main(stop: Stop) -> Stop:
        signal.raise_signal(signal.SIGTERM)
        await asyncio.wait_for(stop.wait(), 5)
        return stop

    stop = run(main)
    assert (stop.signal, stop.exit_code) == (signal.SIGTERM, 128 + signal.SIGTERM)


def test_the_second_signal_ends_it_at_once() -> None:
    with subprocess.Popen([sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own
        assert process.stdout is not None
        assert process.stdout.readline() == "runs\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "asked\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 128 + signal.SIGINT


def test_a_loop_that_ends_by_itself_was_not_asked_to() -> None:
    async def main(stop: Stop) -> int:
        return stop.exit_code

    assert run(main) == 0
