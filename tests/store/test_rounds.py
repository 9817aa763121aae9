"""A room has one unsettled round, and each change of state happens once."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from engine.game.model import CloseReason, Round, RoundState
from engine.ids import ROOM, ROUND, RoomId, RoundId
from engine.store.errors import RowRefused
from engine.store.work import SqlUnitOfWork, SqlUnits
from tests.store.making import a_place, a_round, a_table, mint, read, write


async def test_a_round_comes_back_as_it_went_in(units: SqlUnits) -> None:
    table = await a_table(units)
    round_ = table.round
    async with units.read() as unit:
        assert await unit.rounds.get(round_.id) == round_
        assert await unit.rounds.running(table.room.id) == round_
        assert await unit.rounds.newest(table.room.id) == round_
        assert await unit.rounds.many([round_.id, RoundId(mint(ROUND)), round_.id]) == {round_.id: round_}
        assert await unit.rounds.many([]) == {}


async def test_what_does_not_exist_is_none(units: SqlUnits) -> None:
    room = RoomId(mint(ROOM))
    async with units.read() as unit:
        assert await unit.rounds.get(RoundId(mint(ROUND))) is None
        assert await unit.rounds.running(room) is None
        assert await unit.rounds.newest(room) is None
        assert await unit.rounds.next_number(room) == 1


async def test_numbers_go_up_by_one(units: SqlUnits) -> None:
    room = await write(units, lambda unit: unit.rooms.at(a_place()))
    for number in (1, 2, 3):
        assert await read(units, lambda unit: unit.rounds.next_number(room.id)) == number
        round_ = a_round(room, number=number)
        assert await _add(units, round_)
        await _settle(units, round_.id)
        newest = await read(units, lambda unit: unit.rounds.newest(room.id))
        assert newest is not None
        assert newest.id == round_.id


@pytest.mark.parametrize("closing", [False, True])
async def test_a_second_round_waits_until_the_first_is_settled(units: SqlUnits, *, closing: bool) -> None:
    table = await a_table(units)
    if closing:
        await _close(units, table.round.id, 5, CloseReason.CRACKED)
    assert not await _add(units, a_round(table.room))
    await _settle(units, table.round.id)
    assert await _add(units, a_round(table.room))


async def test_of_racing_opens_one_gets_the_room(units: SqlUnits, neighbour: SqlUnits) -> None:
    room = await write(units, lambda unit: unit.rooms.at(a_place()))

    async def open_one(unit: SqlUnitOfWork) -> bool:
        number = await unit.rounds.next_number(room.id)
        return await unit.rounds.add(a_round(room, number=number))

    opened = await asyncio.gather(*(write(through, open_one) for through in (units, neighbour) * 6))
    assert sorted(opened) == [False] * 11 + [True]
    assert await read(units, lambda unit: unit.rounds.next_number(room.id)) == 2


async def test_closing_keeps_the_last_seq_and_the_reason(units: SqlUnits) -> None:
    table = await a_table(units)
    assert await _close(units, table.round.id, 50, CloseReason.CRACKED)
    closing = replace(table.round, state=RoundState.CLOSING, closing_seq=50, close_reason=CloseReason.CRACKED)
    assert await read(units, lambda unit: unit.rounds.running(table.room.id)) == closing


async def test_a_cracked_round_only_ever_ends_earlier(units: SqlUnits) -> None:
    table = await a_table(units)
    await _close(units, table.round.id, 50, CloseReason.CRACKED)
    for seq, stands in ((60, 50), (50, 50), (45, 45), (48, 45)):
        assert not await _close(units, table.round.id, seq, CloseReason.CRACKED)
        closing = await read(units, lambda unit: unit.rounds.get(table.round.id))
        assert closing is not None
        assert closing.closing_seq == stands


@pytest.mark.parametrize("reason", [CloseReason.EXPIRED, CloseReason.ENDED])
async def test_a_round_that_its_clock_or_admin_ended_keeps_its_end(units: SqlUnits, reason: CloseReason) -> None:
    table = await a_table(units)
    await _close(units, table.round.id, 50, reason)
    assert not await _close(units, table.round.id, 45, CloseReason.CRACKED)
    closing = await read(units, lambda unit: unit.rounds.get(table.round.id))
    assert closing is not None
    assert (closing.closing_seq, closing.close_reason) == (50, reason)


async def test_racing_cracks_close_once_at_the_smallest_seq(units: SqlUnits, neighbour: SqlUnits) -> None:
    table = await a_table(units)
    closes = [
        _close(through, table.round.id, seq, CloseReason.CRACKED)
        for seq, through in enumerate((units, neighbour) * 5, start=40)
    ]
    assert sorted(await asyncio.gather(*reversed(closes))) == [False] * 9 + [True]
    closing = await read(units, lambda unit: unit.rounds.get(table.round.id))
    assert closing is not None
    assert closing.closing_seq == 40


async def test_of_racing_closers_one_settles(units: SqlUnits, neighbour: SqlUnits) -> None:
    """And its win is counted once."""
    table = await a_table(units)
    winner = table.players[1].id
    await _close(units, table.round.id, 50, CloseReason.CRACKED)

    async def settle(unit: SqlUnitOfWork) -> bool:
        if not await unit.rounds.settle(table.round.id, winner, 9_000):
            return False
        await unit.guesses.won(table.room.id, winner)
        return True

    settled = await asyncio.gather(*(write(through, settle) for through in (units, neighbour) * 5))
    assert sorted(settled) == [False] * 9 + [True]
    async with units.read() as unit:
        told = await unit.rounds.get(table.round.id)
        membership = await unit.guesses.membership(table.room.id, winner)
        assert await unit.rounds.running(table.room.id) is None
    assert told is not None
    assert (told.state, told.winner, told.settled_ms) == (RoundState.SETTLED, winner, 9_000)
    assert membership is not None
    assert membership.wins == 1


async def test_a_closer_who_dies_half_way_leaves_it_to_the_next(units: SqlUnits) -> None:
    table = await a_table(units)
    await _close(units, table.round.id, 50, CloseReason.ENDED)
    async with units.begin() as unit:
        assert await unit.rounds.settle(table.round.id, None, 1)
    assert await write(units, lambda unit: unit.rounds.settle(table.round.id, None, 2))


async def test_an_open_round_cannot_be_settled_and_a_settled_one_not_closed(units: SqlUnits) -> None:
    table = await a_table(units)
    assert not await write(units, lambda unit: unit.rounds.settle(table.round.id, None, 1))
    await _settle(units, table.round.id)
    told = await read(units, lambda unit: unit.rounds.get(table.round.id))
    assert not await _close(units, table.round.id, 1, CloseReason.CRACKED)
    assert not await _set_clock(units, table.round.id, deadline_ms=1, remaining_ms=None)
    assert await read(units, lambda unit: unit.rounds.get(table.round.id)) == told


async def test_the_clock_of_an_open_round_stops_and_goes_on(units: SqlUnits) -> None:
    table = await a_table(units)
    for deadline_ms, remaining_ms in ((None, 400), (9_000, None)):
        assert await _set_clock(units, table.round.id, deadline_ms=deadline_ms, remaining_ms=remaining_ms)
        expected = replace(table.round, deadline_ms=deadline_ms, remaining_ms=remaining_ms)
        assert await read(units, lambda unit: unit.rounds.get(table.round.id)) == expected


async def test_an_open_round_without_a_clock_is_refused_by_the_database(units: SqlUnits) -> None:
    table = await a_table(units)
    with pytest.raises(RowRefused, match="one_clock"):
        await _set_clock(units, table.round.id, deadline_ms=None, remaining_ms=None)


async def test_unsettled_rounds_are_closing_or_due(units: SqlUnits) -> None:
    due, later, closing, settled, paused = [await a_table(units) for _ in range(5)]
    await _set_clock(units, due.round.id, deadline_ms=700, remaining_ms=None)
    await _set_clock(units, later.round.id, deadline_ms=701, remaining_ms=None)
    await _set_clock(units, paused.round.id, deadline_ms=None, remaining_ms=1)
    await _close(units, closing.round.id, 5, CloseReason.CRACKED)
    await _settle(units, settled.round.id)
    found = {round_.id for round_ in await read(units, lambda unit: unit.rounds.unsettled(700))}
    assert found == {due.round.id, closing.round.id}


async def test_a_round_hides_its_secret_from_whoever_prints_it(units: SqlUnits) -> None:
    table = await a_table(units)
    shown = repr(await read(units, lambda unit: unit.rounds.get(table.round.id)))
    assert table.round.nonce not in shown
    assert table.round.secret[5] not in shown


async def _add(units: SqlUnits, round_: Round) -> bool:
    return await write(units, lambda unit: unit.rounds.add(round_))


async def _close(units: SqlUnits, round_: RoundId, seq: int, reason: CloseReason) -> bool:
    return await write(units, lambda unit: unit.rounds.close(round_, seq, reason))


async def _set_clock(units: SqlUnits, round_: RoundId, *, deadline_ms: int | None, remaining_ms: int | None) -> bool:
    return await write(
        units, lambda unit: unit.rounds.set_clock(round_, deadline_ms=deadline_ms, remaining_ms=remaining_ms)
    )


async def _settle(units: SqlUnits, round_: RoundId) -> None:
    await _close(units, round_, 1, CloseReason.ENDED)
    assert await write(units, lambda unit: unit.rounds.settle(round_, None, 1))
