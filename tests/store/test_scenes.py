"""Scenes: what a guess is read against is what stands now, however many ask at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine, event

from engine.game.model import Account, CloseReason, Place, RoundState, Scene
from engine.store.work import SqlUnits
from tests.store.making import a_place, a_round, a_table, an_account, read, write


@contextmanager
def counted() -> Iterator[list[str]]:
    """The selects that are run meanwhile."""
    ran: list[str] = []

    def note(_c: object, _cur: object, statement: str, *_: object) -> None:
        if statement.startswith("SELECT"):
            ran.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield ran
    finally:
        event.remove(Engine, "before_cursor_execute", note)


async def test_nothing_is_known_of_a_new_place(units: SqlUnits) -> None:
    assert await units.scene(a_place(), an_account()) == Scene(None, None, None)
    assert await units.scene(a_place(), None) == Scene(None, None, None)


async def test_it_is_what_the_single_reads_say(units: SqlUnits) -> None:
    place, account = a_place(thread=7), an_account()
    room = await write(units, lambda unit: unit.rooms.at(place))
    player = await write(units, lambda unit: unit.rooms.player(account))
    assert await units.scene(place, account) == Scene(room, None, player)
    round_ = a_round(room)
    assert await write(units, lambda unit: unit.rounds.add(round_))
    scene = await units.scene(place, account)
    assert scene == Scene(room, round_, player)
    assert scene.round is not None
    assert scene.round.secret == round_.secret
    assert await read(units, lambda unit: unit.rooms.find(place)) == scene.room
    assert await read(units, lambda unit: unit.rounds.running(room.id)) == scene.round


async def test_a_change_shows_at_once_whoever_made_it(units: SqlUnits, neighbour: SqlUnits) -> None:
    place = a_place()
    room = await write(units, lambda unit: unit.rooms.at(place))
    round_ = a_round(room)
    await write(units, lambda unit: unit.rounds.add(round_))
    assert (await units.scene(place, None)).round == round_
    await write(neighbour, lambda unit: unit.rooms.pause(room.id, paused=True))
    scene = await units.scene(place, None)
    assert scene.room is not None
    assert scene.room.paused
    await write(neighbour, lambda unit: unit.rounds.close(round_.id, 5, CloseReason.ENDED))
    scene = await units.scene(place, None)
    assert scene.round is not None
    assert scene.round.state is RoundState.CLOSING
    await write(neighbour, lambda unit: unit.rounds.settle(round_.id, None, 9))
    assert (await units.scene(place, None)).round is None


async def test_a_player_under_another_name_is_not_known(units: SqlUnits) -> None:
    account = an_account("Ana")
    player = await write(units, lambda unit: unit.rooms.player(account))
    renamed = Account(account.account_ref, "Anna")
    assert (await units.scene(a_place(), account)).player == player
    assert (await units.scene(a_place(), renamed)).player is None
    await write(units, lambda unit: unit.rooms.player(renamed))
    assert (await units.scene(a_place(), account)).player is None


async def test_many_who_ask_at_once_share_one_look_and_each_has_its_own(units: SqlUnits) -> None:
    places = [Place(-1_000 - number, number % 3, "Friends", private=False) for number in range(20)]
    rooms = [await write(units, lambda unit, place=place: unit.rooms.at(place)) for place in places]  # type: ignore[misc]
    accounts = [an_account(f"P{number}") for number in range(20)]
    players = [
        await write(units, lambda unit, account=account: unit.rooms.player(account))  # type: ignore[misc]
        for account in accounts
    ]
    elsewhere = Place(places[0].chat_ref, 99, "Friends", private=False)
    with counted() as ran:
        *scenes, nobody = await asyncio.gather(
            *(units.scene(*pair) for pair in zip(places, accounts, strict=True)), units.scene(elsewhere, accounts[0])
        )
    assert [scene.room for scene in scenes] == rooms
    assert [scene.player for scene in scenes] == players
    assert (nobody.room, nobody.player) == (None, players[0])
    assert len(ran) == 2


async def test_a_table_s_secret_is_in_no_picture_of_the_scene(units: SqlUnits) -> None:
    table = await a_table(units)
    scene = Scene(table.room, table.round, table.players[0])
    assert "secret" not in repr(scene)
    assert " ".join(table.round.secret) not in repr(scene)
