"""A unit of work is all or nothing, belongs to whoever opened it, and readers wait for nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from engine.game.notices import Page, PageShown
from engine.ids import ROOM, RoomId
from engine.store.errors import ReadOnlyUnit, RowRefused, UnitEnded
from engine.store.work import SqlUnitOfWork, SqlUnits
from tests.store.making import (
    a_place,
    a_round,
    a_source,
    a_table,
    an_account,
    mint,
    outgoing,
    read,
    unknown_chat,
    write,
)


async def test_leaving_a_unit_without_commit_rolls_back(units: SqlUnits) -> None:
    source = a_source()
    async with units.begin() as unit:
        assert await unit.inbox.first(source, 1)
    assert await write(units, lambda unit: unit.inbox.first(source, 2))


async def test_an_error_rolls_back_and_passes_through(units: SqlUnits) -> None:
    source = a_source()

    async def fail(unit: SqlUnitOfWork) -> None:
        await unit.inbox.first(source, 1)
        raise LookupError

    with pytest.raises(LookupError):
        await write(units, fail)
    assert await write(units, lambda unit: unit.inbox.first(source, 2))


async def test_commit_keeps_what_was_written(units: SqlUnits, neighbour: SqlUnits) -> None:
    source = a_source()
    assert await write(units, lambda unit: unit.inbox.first(source, 1))
    assert not await write(neighbour, lambda unit: unit.inbox.first(source, 2))


async def test_a_refused_row_takes_the_whole_unit_with_it(units: SqlUnits) -> None:
    source = a_source()

    async def offend(unit: SqlUnitOfWork) -> None:
        await unit.inbox.first(source, 1)
        await unit.rounds.add(a_round(await unit.rooms.at(a_place()), minutes=None))

    with pytest.raises(RowRefused):
        await write(units, offend)
    assert await write(units, lambda unit: unit.inbox.first(source, 2))


@pytest.mark.parametrize("committed", [True, False])
async def test_a_unit_used_after_its_end_is_an_error(units: SqlUnits, *, committed: bool) -> None:
    async with units.begin() as unit:
        if committed:
            await unit.commit()
            with pytest.raises(UnitEnded):
                await unit.commit()
            with pytest.raises(UnitEnded):
                await unit.inbox.first(a_source(), 1)
    with pytest.raises(UnitEnded):
        await unit.inbox.first(a_source(), 1)
    with pytest.raises(UnitEnded):
        await unit.rooms.pulled()


async def test_a_reading_unit_cannot_be_committed(units: SqlUnits) -> None:
    async with units.read() as unit:
        with pytest.raises(ReadOnlyUnit):
            await unit.commit()


@pytest.mark.parametrize(
    "work",
    [
        lambda unit: unit.inbox.first(a_source(), 1),
        lambda unit: unit.rooms.at(a_place()),
        lambda unit: unit.rooms.player(an_account()),
        lambda unit: unit.outbox.sent([], 1),
        lambda unit: unit.rooms.lock(RoomId(mint(ROOM))),
    ],
    ids=["first", "at", "player", "sent", "lock"],
)
async def test_a_reading_unit_refuses_to_write(
    units: SqlUnits, work: Callable[[SqlUnitOfWork], Awaitable[object]]
) -> None:
    async with units.read() as unit:
        with pytest.raises(ReadOnlyUnit):
            await work(unit)


async def test_a_reading_unit_finds_what_is_known(units: SqlUnits) -> None:
    place = a_place()
    made = await write(units, lambda unit: unit.rooms.at(place))
    async with units.read() as unit:
        assert await unit.rooms.at(place) == made


async def test_reading_does_not_wait_for_a_writer(units: SqlUnits, neighbour: SqlUnits) -> None:
    """Nor does it see what is not committed yet."""
    room = (await a_table(units)).room
    async with units.begin() as writing:
        await writing.rooms.pause(room.id, paused=True)
        for reader in (units, neighbour):
            async with asyncio.timeout(5), reader.read() as reading:
                seen = await reading.rooms.get(room.id)
                assert seen is not None
                assert not seen.paused
        await writing.commit()
    paused = await read(neighbour, lambda unit: unit.rooms.get(room.id))
    assert paused is not None
    assert paused.paused


async def test_a_reading_unit_sees_one_moment(units: SqlUnits) -> None:
    table = await a_table(units)
    async with units.read() as reading:
        before = await reading.rooms.get(table.room.id)
        await write(units, lambda unit: unit.rooms.pause(table.room.id, paused=True))
        assert await reading.rooms.get(table.room.id) == before


async def test_no_update_is_lost_between_concurrent_writers(units: SqlUnits, neighbour: SqlUnits) -> None:
    table = await a_table(units)
    player = table.players[0].id

    async def win(through: SqlUnits) -> None:
        async with through.begin() as unit:
            # Reading first is what makes a deferred transaction lose the update.
            await unit.guesses.membership(table.room.id, player)
            await unit.guesses.won(table.room.id, player)
            await unit.commit()

    await asyncio.gather(*(win(through) for through in (units, neighbour) for _ in range(20)))
    membership = await read(units, lambda unit: unit.guesses.membership(table.room.id, player))
    assert membership is not None
    assert membership.wins == 40


async def test_a_cancelled_unit_leaves_the_way_free(units: SqlUnits) -> None:
    """Whether it was writing, or still waiting for its turn, as many times as there are connections."""
    source = a_source()
    entered = asyncio.Event()

    async def hang() -> None:
        async with units.begin() as unit:
            await unit.inbox.first(source, 1)
            entered.set()
            await asyncio.Event().wait()

    for _ in range(12):
        entered.clear()
        writing, waiting = asyncio.create_task(hang()), asyncio.create_task(hang())
        await entered.wait()
        for task in (waiting, writing):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
    async with asyncio.timeout(10):
        assert await write(units, lambda unit: unit.inbox.first(source, 2))


async def test_foreign_keys_are_enforced(units: SqlUnits) -> None:
    stray = outgoing(unknown_chat(), PageShown(Page.HELP))
    with pytest.raises(RowRefused):
        await write(units, lambda unit: unit.outbox.put([stray]))
    table = await a_table(units)
    nowhere = replace(table.room, id=RoomId(mint(ROOM)))
    with pytest.raises(RowRefused):
        await write(units, lambda unit: unit.rounds.add(a_round(nowhere)))
