"""Plans and single rooms' levers as rows: written, counted, locked, bounded by the database too."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import text

from engine.game.model import LeverSet, Plan, Room, Switch
from engine.game.plans import PlanInUse
from engine.ids import RoomId
from engine.store.database import open_database
from engine.store.errors import RowRefused
from engine.store.work import SqlUnitOfWork, SqlUnits
from migrations.run import downgrade, upgrade
from tests.store.making import a_place, mint, read, write

GOLD = Plan("gold", LeverSet(weight=4, ceiling=20, cap=500, lane_cap=50))


async def rooms_of(units: SqlUnits, count: int) -> list[Room]:
    return [await write(units, lambda unit: unit.rooms.at(a_place())) for _ in range(count)]


async def test_a_plan_is_made_changed_and_dropped(units: SqlUnits) -> None:
    await write(units, lambda unit: unit.plans.put(GOLD))
    assert await read(units, lambda unit: unit.plans.get("gold")) == GOLD
    changed = replace(GOLD, levers=LeverSet(weight=5))
    await write(units, lambda unit: unit.plans.put(changed))
    assert await read(units, lambda unit: unit.plans.get("gold")) == changed
    await write(units, lambda unit: unit.plans.drop("gold"))
    assert await read(units, lambda unit: unit.plans.get("gold")) is None
    assert await read(units, lambda unit: unit.plans.all()) == []


async def test_plans_are_listed_by_name_with_how_many_rooms_are_on_them(units: SqlUnits) -> None:
    tin = Plan("tin", LeverSet())
    rooms = [room.id for room in await rooms_of(units, 3)]
    for plan in (tin, GOLD):
        await write(units, lambda unit, plan=plan: unit.plans.put(plan))  # type: ignore[misc] # a default binds it
    await write(units, lambda unit: unit.plans.give(rooms[:2], "gold"))
    assert await read(units, lambda unit: unit.plans.all()) == [PlanInUse(GOLD, 2), PlanInUse(tin, 0)]
    assert await read(units, lambda unit: unit.plans.on("gold")) == sorted(rooms[:2])
    assert await read(units, lambda unit: unit.plans.on("tin")) == []


async def test_a_room_says_its_plan_and_what_is_set_for_it_alone(units: SqlUnits) -> None:
    (room,) = await rooms_of(units, 1)
    await write(units, lambda unit: unit.plans.put(GOLD))
    await write(units, lambda unit: unit.plans.give([room.id], "gold"))
    await write(units, lambda unit: unit.plans.set(room.id, LeverSet(cap=7)))
    await write(units, lambda unit: unit.plans.hold(room.id, 1 << 45))
    wanted = replace(room, plan=GOLD, own=LeverSet(cap=7), held_until_ms=1 << 45)
    assert await read(units, lambda unit: unit.rooms.get(room.id)) == wanted
    assert await read(units, lambda unit: unit.rooms.many([room.id, RoomId(mint("ROM"))])) == [wanted]
    assert await write(units, lambda unit: unit.rooms.lock(room.id)) == wanted
    assert await read(units, lambda unit: unit.rooms.pulled()) == [wanted]
    await write(units, lambda unit: unit.plans.give([room.id], None))
    await write(units, lambda unit: unit.plans.set(room.id, LeverSet()))
    await write(units, lambda unit: unit.plans.hold(room.id, None))
    assert await read(units, lambda unit: unit.rooms.get(room.id)) == room
    assert await read(units, lambda unit: unit.rooms.pulled()) == []


@pytest.mark.parametrize("own", [{"weight": 2}, {"ceiling": 2}, {"cap": 2}, {"lane_cap": 2}])
async def test_each_lever_alone_makes_a_room_one_that_must_be_told(units: SqlUnits, own: dict[str, int]) -> None:
    room, _ = await rooms_of(units, 2)
    await write(units, lambda unit: unit.plans.set(room.id, LeverSet(**own)))
    assert [room.id for room in await read(units, lambda unit: unit.rooms.pulled())] == [room.id]


async def test_a_plan_with_rooms_on_it_is_not_deleted_from_under_them(units: SqlUnits) -> None:
    (room,) = await rooms_of(units, 1)
    await write(units, lambda unit: unit.plans.put(GOLD))
    await write(units, lambda unit: unit.plans.give([room.id], "gold"))
    with pytest.raises(RowRefused):
        await write(units, lambda unit: unit.plans.drop("gold"))
    with pytest.raises(RowRefused):
        await write(units, lambda unit: unit.plans.give([room.id], "silver"))


@pytest.mark.parametrize("lever", ["weight", "ceiling", "cap", "lane_cap"])
async def test_a_lever_below_one_is_refused_by_the_database(units: SqlUnits, lever: str) -> None:
    (room,) = await rooms_of(units, 1)
    none = LeverSet(**{lever: 0})
    with pytest.raises(RowRefused, match=lever):
        await write(units, lambda unit: unit.plans.put(Plan("tin", none)))
    with pytest.raises(RowRefused, match=lever):
        await write(units, lambda unit: unit.plans.set(room.id, none))


async def test_changes_of_a_locked_plan_go_one_after_another(units: SqlUnits, neighbour: SqlUnits) -> None:
    await write(units, lambda unit: unit.plans.put(Plan("gold", LeverSet(weight=1))))

    async def raise_weight(unit: SqlUnitOfWork) -> None:
        plan = await unit.plans.lock("gold")
        assert plan is not None
        await unit.plans.put(Plan("gold", LeverSet(weight=(plan.levers.weight or 0) + 1)))

    await asyncio.gather(*(write(through, raise_weight) for through in (units, neighbour) * 8))
    assert await read(units, lambda unit: unit.plans.get("gold")) == Plan("gold", LeverSet(weight=17))


async def test_rooms_and_chats_are_found_by_what_they_are_called(units: SqlUnits) -> None:
    room = await write(units, lambda unit: unit.rooms.at(a_place(title="Chess club")))
    unknown = mint("ROM")
    titles = await read(units, lambda unit: unit.rooms.titles([room.id, room.chat, unknown]))
    assert titles == {room.id: "Chess club", room.chat: "Chess club"}
    assert await read(units, lambda unit: unit.rooms.titles([])) == {}


async def test_a_switch_is_on_since_it_was_first_turned_on_until_it_is_turned_off(units: SqlUnits) -> None:
    assert await read(units, lambda unit: unit.plans.on_since_ms(Switch.PAUSE_ALL)) is None
    assert await write(units, lambda unit: unit.plans.turn_on(Switch.PAUSE_ALL, 5)) == 5
    assert await write(units, lambda unit: unit.plans.turn_on(Switch.PAUSE_ALL, 9)) == 5
    assert await read(units, lambda unit: unit.plans.on_since_ms(Switch.PAUSE_ALL)) == 5
    for _ in range(2):
        await write(units, lambda unit: unit.plans.turn_off(Switch.PAUSE_ALL))
    assert await read(units, lambda unit: unit.plans.on_since_ms(Switch.PAUSE_ALL)) is None


async def test_a_switch_turned_on_and_off_by_many_at_once_is_one_of_the_two(
    units: SqlUnits, neighbour: SqlUnits
) -> None:
    ons = [write(through, lambda unit: unit.plans.turn_on(Switch.PAUSE_ALL, 7)) for through in (units, neighbour) * 8]
    offs = [write(through, lambda unit: unit.plans.turn_off(Switch.PAUSE_ALL)) for through in (neighbour, units) * 8]
    answers = await asyncio.gather(*(change for pair in zip(ons, offs, strict=True) for change in pair))
    assert set(answers[::2]) == {7}
    assert await read(units, lambda unit: unit.plans.on_since_ms(Switch.PAUSE_ALL)) in {7, None}


async def test_more_rooms_than_one_statement_takes_are_put_on_a_plan(units: SqlUnits) -> None:
    async with units.begin() as unit:
        await unit.plans.put(GOLD)
        rooms = [(await unit.rooms.at(a_place())).id for _ in range(1_001)]
        await unit.plans.give(rooms, "gold")
        await unit.commit()
    assert len(await read(units, lambda unit: unit.plans.on("gold"))) == 1_001
    assert len(await read(units, lambda unit: unit.rooms.many(rooms))) == 1_001
    assert len(await read(units, lambda unit: unit.rooms.titles(rooms))) == 1_001


async def test_rooms_outlive_the_migration_that_brings_plans_both_ways(database_url: str) -> None:
    async with await open_database(database_url) as database:
        await upgrade(database, "0001")
        room, chat = mint("ROM"), mint("CHT")
        async with database.writing() as connection:
            for statement in (
                "INSERT INTO chats (id, chat_ref, private, title) VALUES (:chat, -1, false, 'Old')",
                (
                    "INSERT INTO rooms (id, chat, thread, paused, ceiling, chat_limit) "
                    "VALUES (:room, :chat, 0, true, 5, 3)"
                ),
            ):
                await connection.execute(text(statement), {"room": room, "chat": chat})
            await connection.commit()
        await upgrade(database)
        units = SqlUnits(database, mint)
        found = await read(units, lambda unit: unit.rooms.get(RoomId(room)))
        assert found is not None
        assert (found.paused, found.own, found.chat_limit, found.plan) == (True, LeverSet(ceiling=5), 3, None)
        await write(units, lambda unit: unit.plans.put(GOLD))
        await write(units, lambda unit: unit.plans.give([found.id], "gold"))
        await downgrade(database, "0001")
        async with database.reading() as connection:
            kept = (await connection.execute(text("SELECT id, paused, ceiling, chat_limit FROM rooms"))).all()
        assert [tuple(row) for row in kept] == [(room, True, 5, 3)]
