"""Chats that become another: their rooms stay theirs, and a former number leads there."""

from __future__ import annotations

from engine.game.model import Chat, Place, Room, Source
from engine.game.notices import Page, PageShown
from engine.store.work import SqlUnits
from tests.store.making import a_place, a_round, outgoing, put, read, write


async def known(units: SqlUnits, chat_ref: int) -> Chat:
    chat = await write(units, lambda unit: unit.chats.lock(chat_ref))
    assert chat is not None
    return chat


async def at(units: SqlUnits, place: Place) -> Room:
    return await write(units, lambda unit: unit.rooms.at(place))


async def test_a_renamed_chat_keeps_its_rooms_and_both_numbers_lead_to_it(units: SqlUnits) -> None:
    old, new = a_place(), a_place()
    room = await at(units, old)
    chat = await known(units, old.chat_ref)
    await write(units, lambda unit: unit.chats.rename(chat, new.chat_ref))
    async with units.read() as unit:
        found = [await unit.rooms.find(place) for place in (old, new)]
    assert [one and (one.id, one.chat_ref) for one in found] == [(room.id, new.chat_ref)] * 2
    assert [(await at(units, place)).id for place in (old, new)] == [room.id] * 2
    assert (await known(units, new.chat_ref)).id == room.chat
    assert (await known(units, old.chat_ref)).moved
    topic = Place(old.chat_ref, 7, "Friends", private=False)
    assert (await at(units, topic)).chat == room.chat


async def test_what_is_owed_to_a_chat_that_moved_is_said_in_the_new_one_and_replies_to_nothing(units: SqlUnits) -> None:
    old, new = a_place(), a_place()
    room = await at(units, old)
    page = PageShown(Page.HELP)
    mine, theirs, unknown = await put(
        units,
        outgoing(room.chat, page, reply_to=Source(old.chat_ref, 5)),
        outgoing(room.chat, page, reply_to=Source(new.chat_ref, 6)),
        outgoing(room.chat, page),
    )
    chat = await known(units, old.chat_ref)
    await write(units, lambda unit: unit.chats.rename(chat, new.chat_ref))
    items = await read(units, lambda unit: unit.outbox.load([mine, theirs, unknown]))
    assert [(item.chat_ref, item.reply_to) for item in items] == [
        (new.chat_ref, None),
        (new.chat_ref, 6),
        (new.chat_ref, None),
    ]


async def test_of_two_merged_chats_one_has_all_rooms_that_it_has_a_place_for(units: SqlUnits) -> None:
    old, new = a_place(), a_place()
    topic = Place(new.chat_ref, 7, "Friends", private=False)
    stays, goes, moves = [await at(units, place) for place in (old, new, topic)]
    (owed,) = await put(units, outgoing(goes.chat, PageShown(Page.HELP)))
    one, other = await known(units, old.chat_ref), await known(units, new.chat_ref)
    crowded = await write(units, lambda unit: unit.chats.merge(one, other, new_ref=new.chat_ref, old_ref=old.chat_ref))
    assert crowded == [goes.id]
    for place in (old, new):
        assert (await at(units, place)).id == stays.id
    assert (await at(units, topic)).id == moves.id
    (item,) = await read(units, lambda unit: unit.outbox.load([owed]))
    assert item.chat_ref == new.chat_ref


async def test_a_chat_has_played_once_a_round_was_opened_in_it(units: SqlUnits) -> None:
    room = await at(units, a_place())
    assert not await read(units, lambda unit: unit.chats.played(room.chat))
    await write(units, lambda unit: unit.rounds.add(a_round(room)))
    assert await read(units, lambda unit: unit.chats.played(room.chat))


async def test_whoever_is_heard_from_is_not_away(units: SqlUnits) -> None:
    place = a_place()
    room = await at(units, place)
    (owed,) = await put(units, outgoing(room.chat, PageShown(Page.HELP)))
    await write(units, lambda unit: unit.chats.away(room.chat, away=True))
    (item,) = await read(units, lambda unit: unit.outbox.load([owed]))
    assert item.away
    await at(units, place)
    (item,) = await read(units, lambda unit: unit.outbox.load([owed]))
    assert not item.away
