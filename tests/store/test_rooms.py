"""Chats, rooms and players are made once, whoever comes first, and keep their levers."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from engine.game.model import Account, CloseReason, LeverSet, Player, Room
from engine.ids import RoomId, check
from engine.store.errors import RowRefused
from engine.store.work import SqlUnitOfWork, SqlUnits
from tests.store.making import a_place, a_table, an_account, mint, read, record, write


async def test_a_room_is_made_once_for_its_place(units: SqlUnits) -> None:
    place = a_place(chat_ref=-1_002_003_004_005_006, private=True)
    made = await write(units, lambda unit: unit.rooms.at(place))
    check(made.id, kind="ROM")
    check(made.chat, kind="CHT")
    assert (made.chat_ref, made.thread, made.private) == (place.chat_ref, 0, True)
    assert (made.paused, made.plan, made.own, made.chat_limit) == (False, None, LeverSet(), None)
    assert await write(units, lambda unit: unit.rooms.at(place)) == made
    assert await read(units, lambda unit: unit.rooms.get(made.id)) == made
    assert await read(units, lambda unit: unit.rooms.find(place)) == made


async def test_topics_of_one_chat_are_rooms_of_their_own(units: SqlUnits) -> None:
    place = a_place()
    first = await write(units, lambda unit: unit.rooms.at(place))
    topic = await write(units, lambda unit: unit.rooms.at(replace(place, thread=17)))
    assert topic.id != first.id
    assert topic.chat == first.chat


async def known(units: SqlUnits, account: Account) -> Player | None:
    """The player as a guess finds it: under the name it shows today."""
    return (await units.scene(a_place(), account)).player


async def test_an_unknown_room_is_none(units: SqlUnits) -> None:
    async with units.read() as unit:
        assert await unit.rooms.get(RoomId(mint("ROM"))) is None
        assert await unit.rooms.find(a_place()) is None
    assert await known(units, an_account()) is None


async def test_a_player_is_made_once_and_keeps_its_newest_name(units: SqlUnits) -> None:
    account = an_account("Ana")
    ana = await write(units, lambda unit: unit.rooms.player(account))
    check(ana.id, kind="PLR")
    renamed = replace(account, name="Ana B.")
    assert await known(units, account) == ana
    assert await known(units, renamed) is None
    assert await write(units, lambda unit: unit.rooms.player(renamed)) == replace(ana, name="Ana B.")
    assert await known(units, renamed) == replace(ana, name="Ana B.")


HOSTILE = [
    "",
    " ",
    "<b>&amp;</b>",
    "\u202eevil",
    "'; DROP TABLE players; --",
    "a" + "\u0301" * 512,
    "👩\u200d👩\u200d👧",
    "%s {0} \\0",
    "\ufeff",
]


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_names_survive_unchanged(units: SqlUnits, name: str) -> None:
    account = an_account(name)
    assert (await write(units, lambda unit: unit.rooms.player(account))).name == name
    player = await known(units, account)
    assert player is not None
    assert player.name == name


@pytest.mark.parametrize(("name", "kept"), [("A\0na", "A\ufffdna"), ("A\ud83dna", "A\ufffdna"), ("\ud83d\ude00", "😀")])
async def test_what_no_database_keeps_is_replaced_once(units: SqlUnits, name: str, kept: str) -> None:
    account = an_account(name)
    player = await write(units, lambda unit: unit.rooms.player(account))
    assert player.name == kept
    # Known under the name it shows today, so it is not written again at every message.
    assert await known(units, account) == player
    room = await write(units, lambda unit: unit.rooms.at(a_place(title=name)))
    assert await read(units, lambda unit: unit.rooms.get(room.id)) == room


async def test_first_comers_who_race_get_the_same_room_and_player(units: SqlUnits, neighbour: SqlUnits) -> None:
    place, account = a_place(), an_account()

    async def come(unit: SqlUnitOfWork) -> tuple[Room, Player]:
        return await unit.rooms.at(place), await unit.rooms.player(account)

    came = await asyncio.gather(*(write(through, come) for through in (units, neighbour) for _ in range(8)))
    assert len(set(came)) == 1


async def test_a_first_comer_who_gives_up_leaves_the_place_to_the_next(units: SqlUnits) -> None:
    place = a_place()
    async with units.begin() as unit:
        given_up = await unit.rooms.at(place)
    made = await write(units, lambda unit: unit.rooms.at(place))
    assert made.id != given_up.id


async def test_levers_are_written(units: SqlUnits) -> None:
    room = (await a_table(units)).room
    await write(units, lambda unit: unit.rooms.pause(room.id, paused=True))
    await write(units, lambda unit: unit.rooms.limit(room.id, 3))
    assert await read(units, lambda unit: unit.rooms.get(room.id)) == replace(room, paused=True, chat_limit=3)
    await write(units, lambda unit: unit.rooms.pause(room.id, paused=False))
    await write(units, lambda unit: unit.rooms.limit(room.id, None))
    assert await read(units, lambda unit: unit.rooms.get(room.id)) == room


async def test_changes_of_a_locked_room_go_one_after_another(units: SqlUnits, neighbour: SqlUnits) -> None:
    room = (await a_table(units)).room

    async def raise_limit(unit: SqlUnitOfWork) -> None:
        locked = await unit.rooms.lock(room.id)
        await unit.rooms.limit(room.id, (locked.chat_limit or 0) + 1)

    await asyncio.gather(*(write(through, raise_limit) for through in (units, neighbour) * 8))
    assert await read(units, lambda unit: unit.rooms.get(room.id)) == replace(room, chat_limit=16)


@pytest.mark.parametrize("ready_database_url", ["postgres"], indirect=True)
async def test_a_locked_room_keeps_nobody_from_guessing_in_it(units: SqlUnits) -> None:
    """Rows that only refer to it are written meanwhile (on SQLite every writer waits for every other)."""
    table = await a_table(units)
    async with units.begin() as unit:
        await unit.rooms.lock(table.room.id)
        async with asyncio.timeout(10):
            guess = table.guess()
            assert await record(units, guess) == {guess.job}


async def test_a_limit_below_one_is_refused_by_the_database(units: SqlUnits) -> None:
    room = (await a_table(units)).room
    with pytest.raises(RowRefused, match="chat_limit"):
        await write(units, lambda unit: unit.rooms.limit(room.id, 0))


async def test_pulled_rooms_have_a_lever_or_an_unsettled_round(units: SqlUnits) -> None:
    playing = await a_table(units)
    settled = await a_table(units)
    await write(units, lambda unit: unit.rounds.close(settled.round.id, 1, CloseReason.ENDED))
    await write(units, lambda unit: unit.rounds.settle(settled.round.id, None, 1))
    quiet, paused, limited = [await write(units, lambda unit: unit.rooms.at(a_place())) for _ in range(3)]
    await write(units, lambda unit: unit.rooms.pause(paused.id, paused=True))
    await write(units, lambda unit: unit.rooms.limit(limited.id, 2))
    pulled = {room.id for room in await read(units, lambda unit: unit.rooms.pulled())}
    assert pulled == {playing.room.id, paused.id, limited.id}
    assert quiet.id not in pulled
