"""Reads that travel together: each asker has its own answer, from a read that began after it asked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from engine.store.convoy import Convoy
from tests.waiting import wait_until


class Desk:
    """Answers each question with its square, once a test lets it."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []
        self.gate = asyncio.Event()
        self.fault: Exception | None = None

    async def ask(self, questions: Sequence[int]) -> list[int]:
        self.asked.append(list(questions))
        await self.gate.wait()
        if self.fault is not None:
            raise self.fault
        return [question**2 for question in questions]


async def test_a_lone_asker_waits_for_nobody() -> None:
    desk = Desk()
    desk.gate.set()
    assert await Convoy(desk.ask)(3) == 9
    assert desk.asked == [[3]]


async def test_those_who_ask_in_one_tick_travel_together() -> None:
    desk = Desk()
    desk.gate.set()
    convoy = Convoy(desk.ask)
    assert await asyncio.gather(*(convoy(number) for number in range(5))) == [0, 1, 4, 9, 16]
    assert desk.asked == [[0, 1, 2, 3, 4]]


async def test_those_who_ask_meanwhile_share_the_next_read_and_never_the_one_under_way() -> None:
    desk = Desk()
    convoy = Convoy(desk.ask)
    first = asyncio.create_task(convoy(1))
    await wait_until(lambda: desk.asked, "the first is under way")
    later = [asyncio.create_task(convoy(number)) for number in (2, 3, 4)]
    await asyncio.sleep(0)
    assert desk.asked == [[1]]
    desk.gate.set()
    assert await asyncio.gather(first, *later) == [1, 4, 9, 16]
    assert desk.asked == [[1], [2, 3, 4]]


async def test_no_read_grows_beyond_its_size() -> None:
    desk = Desk()
    desk.gate.set()
    convoy = Convoy(desk.ask, largest=3)
    assert await asyncio.gather(*(convoy(number) for number in range(7))) == [0, 1, 4, 9, 16, 25, 36]
    assert desk.asked == [[0, 1, 2], [3, 4, 5], [6]]


async def test_an_error_is_told_to_each_and_the_next_read_is_fresh() -> None:
    desk = Desk()
    desk.gate.set()
    desk.fault = LookupError("away")
    convoy = Convoy(desk.ask)
    told = await asyncio.gather(convoy(1), convoy(2), return_exceptions=True)
    assert [type(each) for each in told] == [LookupError, LookupError]
    assert told[0] is not told[1]
    desk.fault = None
    assert await convoy(3) == 9


async def test_one_who_gives_up_disturbs_no_other() -> None:
    desk = Desk()
    convoy = Convoy(desk.ask)
    impatient, patient = asyncio.create_task(convoy(1)), asyncio.create_task(convoy(2))
    await wait_until(lambda: desk.asked, "they are under way")
    impatient.cancel()
    await asyncio.gather(impatient, return_exceptions=True)
    desk.gate.set()
    assert await patient == 4
    waiting = asyncio.create_task(convoy(5))
    await asyncio.sleep(0)
    waiting.cancel()
    assert await convoy(6) == 36
    assert desk.asked[-1] == [6]


async def test_a_read_that_stalls_does_not_hold_up_the_others_for_ever() -> None:
    stuck = asyncio.Event()
    asked: list[list[int]] = []

    async def ask(questions: Sequence[int]) -> list[int]:
        asked.append(list(questions))
        if 1 in questions:
            await stuck.wait()
        return list(questions)

    convoy = Convoy(ask, stalled_s=0.05)
    first = asyncio.create_task(convoy(1))
    await wait_until(lambda: asked, "the first is under way")
    assert await asyncio.wait_for(convoy(2), 5) == 2
    assert not first.done()
    stuck.set()
    assert await first == 1


async def test_few_stalled_reads_are_under_way_at_once() -> None:
    desk = Desk()
    convoy = Convoy(desk.ask, stalled_s=0.001)
    tasks = []
    for number in range(6):
        tasks.append(asyncio.create_task(convoy(number)))
        await asyncio.wait(tasks, timeout=0.02)
    assert desk.asked == [[0], [1], [2]]
    desk.gate.set()
    assert await asyncio.gather(*tasks) == [0, 1, 4, 9, 16, 25]
    assert desk.asked[-1] == [3, 4, 5]


@pytest.mark.parametrize("count", [1, 2])
async def test_a_cancelled_read_cancels_its_askers(count: int) -> None:
    async def ask(_: Sequence[int]) -> list[int]:
        raise asyncio.CancelledError

    convoy = Convoy(ask)
    told = await asyncio.gather(*(convoy(number) for number in range(count)), return_exceptions=True)
    assert [type(each) for each in told] == [asyncio.CancelledError] * count
