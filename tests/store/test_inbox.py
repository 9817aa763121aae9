"""A message has its effect once."""

from __future__ import annotations

import asyncio

from engine.game.model import Source
from engine.store.work import SqlUnits
from tests.store.making import a_source, write


async def test_a_message_is_first_once(units: SqlUnits) -> None:
    source = a_source()
    assert await write(units, lambda unit: unit.inbox.first(source, 1))
    assert not await write(units, lambda unit: unit.inbox.first(source, 2))


async def test_the_same_number_in_another_chat_is_another_message(units: SqlUnits) -> None:
    here, there = Source(-5, 2**51), Source(-6, 2**51)
    assert await write(units, lambda unit: unit.inbox.first(here, 1))
    assert await write(units, lambda unit: unit.inbox.first(there, 1))


async def test_a_message_whose_effect_was_rolled_back_is_first_again(units: SqlUnits) -> None:
    source = a_source()
    async with units.begin() as unit:
        assert await unit.inbox.first(source, 1)
        assert not await unit.inbox.first(source, 1)
    assert await write(units, lambda unit: unit.inbox.first(source, 2))


async def test_of_racing_copies_one_is_first(units: SqlUnits, neighbour: SqlUnits) -> None:
    source = a_source()
    copies = (write(through, lambda unit: unit.inbox.first(source, 1)) for through in (units, neighbour) * 6)
    assert sorted(await asyncio.gather(*copies)) == [False] * 11 + [True]


async def test_what_was_taken_long_ago_is_forgotten_a_bounded_part_at_a_time(units: SqlUnits) -> None:
    sources = [a_source() for _ in range(5)]
    async with units.begin() as unit:
        for taken_ms, source in enumerate(sources):
            assert await unit.inbox.first(source, taken_ms)
        await unit.commit()
    assert [await write(units, lambda unit: unit.inbox.prune(4, 3)) for _ in range(3)] == [3, 1, 0]
    assert not await write(units, lambda unit: unit.inbox.first(sources[4], 9))
    assert await write(units, lambda unit: unit.inbox.first(sources[0], 9))
