"""One timer for all deadlines: each ends its own block, and nothing else."""

from __future__ import annotations

import asyncio
import time

import pytest

from bot.deadlines import Deadlines


async def test_what_hangs_ends_and_what_is_in_time_does_not() -> None:
    deadlines = Deadlines()

    async def piece(seconds: float) -> str:
        try:
            with deadlines.within(200):
                await asyncio.sleep(seconds)
        except TimeoutError:
            return "late"
        return "in time"

    began = time.monotonic()
    told = await asyncio.gather(piece(0), piece(60), piece(0.01), piece(60))
    assert list(told) == ["in time", "late", "in time", "late"]
    assert 0.2 <= time.monotonic() - began < 30
    assert not deadlines._open


async def test_an_error_of_the_block_comes_out_as_it_is() -> None:
    with pytest.raises(LookupError), Deadlines().within(1_000):
        raise LookupError


async def test_whoever_cancels_from_outside_cancels() -> None:
    deadlines = Deadlines()
    reached: list[str] = []

    async def piece() -> None:
        with deadlines.within(60_000):
            await asyncio.Event().wait()
        reached.append("past the block")

    task = asyncio.create_task(piece())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert reached == []


async def test_a_cancellation_that_meets_the_deadline_is_not_lost() -> None:
    deadlines = Deadlines()
    hanging = asyncio.Event()

    async def piece() -> None:
        try:
            with deadlines.within(10):
                try:
                    await asyncio.Event().wait()
                finally:
                    hanging.set()
                    await asyncio.sleep(0)
        except TimeoutError:
            raise AssertionError("somebody else cancelled it, too") from None

    task = asyncio.create_task(piece())
    await hanging.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_no_timer_runs_while_there_is_nothing_to_watch() -> None:
    deadlines = Deadlines()
    with deadlines.within(10), pytest.raises(asyncio.CancelledError):
        await asyncio.Event().wait()
    timer = deadlines._timer
    if timer is not None:
        timer.cancel()
        deadlines._look()
    assert deadlines._timer is None


def test_a_deadline_needs_a_task() -> None:
    loop = asyncio.new_event_loop()
    told: list[Exception] = []

    def enter() -> None:
        try:
            Deadlines().within(1).__enter__()
        except RuntimeError as error:
            told.append(error)

    loop.call_soon(enter)
    loop.call_soon(loop.stop)
    loop.run_forever()
    loop.close()
    assert len(told) == 1
