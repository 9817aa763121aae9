"""What a pass stands on: that whatever it began ends with it."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from bot.flood.phases import ended


async def test_a_task_that_loses_a_cancellation_ends_all_the_same() -> None:
    async def loses_one() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        await asyncio.Event().wait()

    task = asyncio.create_task(loses_one())
    await asyncio.sleep(0)
    async with asyncio.timeout(10):
        await ended(task)
    assert task.cancelled()


async def test_what_a_task_raised_is_not_lost() -> None:
    async def fails() -> None:
        raise LookupError

    task = asyncio.create_task(fails())
    await asyncio.sleep(0)
    with pytest.raises(LookupError):
        await ended(task)
