"""What must be said waits until it is said or dropped, and comes back as it was put."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import get_args

import pytest

from engine.game.model import CloseReason, RoundState, Source
from engine.game.notices import (
    Answer,
    Board,
    LeverPulled,
    Line,
    Notice,
    Page,
    PageShown,
    Profile,
    Refusal,
    Refused,
    RoundOpened,
    RoundRevealed,
)
from engine.game.ports import OutboxItem, Outgoing
from engine.ids import NOTICE, PLAYER, ROUND, Minter, NoticeId, PlayerId, RoundId
from engine.store.outbox import read_notice, write_notice
from engine.store.work import SqlUnits
from tests.store.making import a_place, a_table, an_account, an_answer, mint, outgoing, put, read, write

ANA, BEN = PlayerId(mint(PLAYER)), PlayerId(mint(PLAYER))
LINE = Line(1, ANA, 600, 100, 4)
GAM = RoundId(mint(ROUND))
NOTICES: tuple[Notice, ...] = (
    Answer(ANA, 420, 70, counted=True),
    RoundOpened(GAM, 3, "fruits", ("0000", "0100"), "ab" * 32, 10),
    RoundRevealed(GAM, 3, "fruits", CloseReason.CRACKED, ANA, ("0000",), "cd" * 16, "ab" * 32, (LINE,)),
    RoundRevealed(GAM, 3, "fruits", CloseReason.EXPIRED, None, ("0000",), "cd" * 16, "ab" * 32, ()),
    Board(
        3,
        "fruits",
        ("0000",),
        RoundState.OPEN,
        paused=False,
        remaining_ms=5,
        lines=(LINE,),
        players_total=1,
        guesses_total=4,
    ),
    Profile(BEN, None, 0, 0, 0, 0),
    Profile(BEN, replace(LINE, player=BEN), 2, 9, 600, 1),
    Refused(Refusal.UNKNOWN_THEME, words=("a\0b", "\ud83d", "<b>", "😀")),
    Refused(Refusal.ROOM_FULL, got=5, wanted=5, eta_ms=1_000),
    LeverPulled("limit", 4),
    PageShown(Page.RULES),
)


def test_there_is_an_example_of_every_notice() -> None:
    assert {type(notice) for notice in NOTICES} == set(get_args(Notice))


@pytest.mark.parametrize("notice", NOTICES, ids=lambda notice: notice.kind)
def test_a_notice_reads_back_as_it_was_written(notice: Notice) -> None:
    body = write_notice(notice)
    assert read_notice(body) == notice
    assert body.isascii()
    assert json.loads(body)["kind"] == notice.kind


async def test_every_notice_survives_the_database(units: SqlUnits) -> None:
    chat = (await a_table(units)).room.chat
    ids = await put(units, *(outgoing(chat, notice) for notice in NOTICES))
    assert [item.notice for item in await read(units, lambda unit: unit.outbox.load(ids))] == list(NOTICES)


async def test_a_notice_waits_until_it_is_sent(units: SqlUnits) -> None:
    table = await a_table(units)
    chat = table.room.chat
    first, second = await put(units, *(outgoing(chat, an_answer(table.players[0].id)) for _ in range(2)))
    assert await read(units, lambda unit: unit.outbox.waiting([first, second])) == [(first, chat), (second, chat)]
    await write(units, lambda unit: unit.outbox.sent([first], 6_000))
    async with units.read() as unit:
        assert await unit.outbox.waiting([first, second]) == [(second, chat)]
        assert [item.id for item in await unit.outbox.load([first, second])] == [second]
        assert await unit.outbox.unsent(10, 9_000) == [(second, chat)]


async def test_a_dropped_notice_waits_no_longer(units: SqlUnits) -> None:
    table = await a_table(units)
    (dropped,) = await put(units, outgoing(table.room.chat, an_answer(table.players[0].id)))
    await write(units, lambda unit: unit.outbox.drop([dropped], "the bot was\0removed", 6_000))
    async with units.read() as unit:
        assert await unit.outbox.waiting([dropped]) == []
        assert await unit.outbox.load([dropped]) == []
        assert await unit.outbox.unsent(10, 9_000) == []


async def test_the_first_end_of_a_notice_stands(units: SqlUnits) -> None:
    """A late mark by another process changes nothing, and refuses nobody else's."""
    table = await a_table(units)
    ids = await put(units, *(outgoing(table.room.chat, an_answer(table.players[0].id)) for _ in range(3)))
    await write(units, lambda unit: unit.outbox.sent(ids[:1], 6_000))
    await write(units, lambda unit: unit.outbox.drop(ids[:2], "gone", 7_000))
    await write(units, lambda unit: unit.outbox.sent(ids, 8_000))
    assert await read(units, lambda unit: unit.outbox.waiting(ids)) == []


async def test_a_notice_put_twice_is_left_as_it_is(units: SqlUnits) -> None:
    table = await a_table(units)
    notice = outgoing(table.room.chat, an_answer(table.players[0].id, 100))
    again = replace(notice, notice=an_answer(table.players[0].id, 200))
    other = outgoing(table.room.chat, PageShown(Page.HELP))
    await put(units, notice)
    await put(units, again, other, other)
    items = await read(units, lambda unit: unit.outbox.load([notice.id, other.id]))
    assert [item.notice for item in items] == [notice.notice, other.notice]
    await write(units, lambda unit: unit.outbox.sent([notice.id], 6_000))
    await put(units, again)
    assert await read(units, lambda unit: unit.outbox.waiting([notice.id])) == []


async def test_racing_puts_of_one_notice_make_one_row(units: SqlUnits, neighbour: SqlUnits) -> None:
    table = await a_table(units)
    notices = [outgoing(table.room.chat, PageShown(Page.HELP)) for _ in range(20)]
    orders = (notices, notices[::-1])
    await asyncio.gather(
        *(put(through, *order) for order in orders for through in (units, neighbour) for _ in range(3))
    )
    waiting = await read(units, lambda unit: unit.outbox.waiting([notice.id for notice in notices]))
    assert len(waiting) == 20


async def test_unsent_notices_come_in_mint_order_in_pages_and_not_too_young(units: SqlUnits) -> None:
    chat = (await a_table(units)).room.chat
    created = [10, 40, 20, 30]
    ids = await put(units, *(outgoing(chat, PageShown(Page.HELP), created_ms=ms) for ms in created))
    assert ids == sorted(ids)
    old_enough = [(id_, chat) for id_ in (ids[0], ids[2], ids[3])]
    assert await read(units, lambda unit: unit.outbox.unsent(10, 40)) == old_enough
    assert await read(units, lambda unit: unit.outbox.unsent(2, 40)) == old_enough[:2]
    assert await read(units, lambda unit: unit.outbox.unsent(2, 40, after=ids[2])) == old_enough[2:]


async def test_a_chat_is_owed_what_is_neither_sent_nor_dropped(units: SqlUnits) -> None:
    one, other = (await a_table(units)).room.chat, (await a_table(units)).room.chat
    sent, dropped = await put(units, outgoing(one, PageShown(Page.HELP)), outgoing(one, PageShown(Page.RULES)))
    assert await read(units, lambda unit: unit.outbox.owes(one))
    assert not await read(units, lambda unit: unit.outbox.owes(other))
    await write(units, lambda unit: unit.outbox.sent([sent], 6_000))
    await write(units, lambda unit: unit.outbox.drop([dropped], "gone", 6_000))
    assert not await read(units, lambda unit: unit.outbox.owes(one))


async def test_items_are_loaded_in_the_order_asked_for_with_all_it_takes_to_say_them(units: SqlUnits) -> None:
    place = a_place(private=True, thread=8)
    room = await write(units, lambda unit: unit.rooms.at(place))
    ana = await write(units, lambda unit: unit.rooms.player(an_account("Ana")))
    ben = await write(units, lambda unit: unit.rooms.player(an_account("<b>")))
    line = Line(1, ben.id, 600, 100, 1)
    board = Board(
        1,
        "fruits",
        (),
        RoundState.SETTLED,
        paused=False,
        remaining_ms=None,
        lines=(line,),
        players_total=1,
        guesses_total=1,
    )
    stranger = outgoing(room.chat, an_answer(PlayerId(mint(PLAYER))), thread=8, reply_to=Source(place.chat_ref, 2**51))
    shown = outgoing(room.chat, board, thread=8)
    answer = outgoing(room.chat, an_answer(ana.id), thread=8, reply_to=Source(place.chat_ref, 17))
    await put(units, stranger, shown, answer)
    unknown = NoticeId(mint(NOTICE))
    wanted = [answer.id, unknown, stranger.id, shown.id, answer.id]
    items = await read(units, lambda unit: unit.outbox.load(wanted))
    assert items == [
        OutboxItem(answer.id, room.chat, place.chat_ref, True, 8, answer.notice, 17, {ana.id: "Ana"}),
        OutboxItem(stranger.id, room.chat, place.chat_ref, True, 8, stranger.notice, 2**51, {}),
        OutboxItem(shown.id, room.chat, place.chat_ref, True, 8, board, None, {ben.id: "<b>"}),
    ]


async def test_nothing_asked_for_is_nothing_done(units: SqlUnits) -> None:
    async with units.begin() as unit:
        await unit.outbox.put([])
        await unit.outbox.sent([], 1)
        await unit.outbox.drop([], "gone", 1)
        assert await unit.outbox.load([]) == []
        assert await unit.outbox.waiting([]) == []
        await unit.commit()


async def test_what_is_over_and_old_is_deleted_and_nothing_else(units: SqlUnits) -> None:
    room = await write(units, lambda unit: unit.rooms.at(a_place()))
    minted_ms = 1_800_000_000_000
    minter = Minter(3, now_ms=lambda: minted_ms)

    def notice() -> Outgoing:
        return outgoing(room.chat, PageShown(Page.HELP), id=NoticeId(minter.mint(NOTICE)))

    old = await put(units, *(notice() for _ in range(5)))
    minted_ms += 10
    (new,) = await put(units, notice())
    await write(units, lambda unit: unit.outbox.sent([*old[1:4], new], 6_000))
    await write(units, lambda unit: unit.outbox.drop(old[4:], "gone", 6_000))
    counts = [await write(units, lambda unit: unit.outbox.prune(minted_ms, 3)) for _ in range(3)]
    assert counts == [3, 1, 0]
    assert await read(units, lambda unit: unit.outbox.waiting(old)) == [(old[0], room.chat)]
    assert await write(units, lambda unit: unit.outbox.prune(minted_ms + 1, 10)) == 1


async def test_all_that_a_chat_or_a_thread_of_it_is_owed_is_dropped(units: SqlUnits) -> None:
    room = await write(units, lambda unit: unit.rooms.at(a_place()))
    other = await write(units, lambda unit: unit.rooms.at(a_place()))
    here = await put(units, *(outgoing(room.chat, PageShown(Page.HELP), thread=thread) for thread in (0, 7, 7)))
    (there,) = await put(units, outgoing(other.chat, PageShown(Page.HELP)))
    await write(units, lambda unit: unit.outbox.drop_all(room.chat, 7, "closed", 6_000))
    assert await read(units, lambda unit: unit.outbox.waiting([*here, there])) == [
        (here[0], room.chat),
        (there, other.chat),
    ]
    await write(units, lambda unit: unit.outbox.drop_all(room.chat, None, "gone", 6_000))
    assert await read(units, lambda unit: unit.outbox.waiting([*here, there])) == [(there, other.chat)]
