"""What goes into one message: as much as Telegram takes, in order, and nobody left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from bot.messenger import TelegramMessenger
from bot.terminal.markup import plain, read_html
from bot.texts.markup import entities, units
from engine.game.model import CloseReason
from engine.game.notices import (
    Answer,
    Line,
    Page,
    PageShown,
    Refusal,
    Refused,
    RoundRevealed,
)
from engine.game.ports import OutboxItem
from engine.game.themes import theme
from engine.ids import PlayerId, RoundId
from engine.workers.ports import Told
from tests.bot.api import FakeApi
from tests.bot.notices import PLAYER, answer, board, item, minter
from tests.bot.stage import ISOLATES


async def test_several_answers_go_into_one_message_in_order(api: FakeApi, messenger: TelegramMessenger) -> None:
    items = [item(answer(total)) for total in (0, 20, 40)]
    assert await messenger.say(items) == Told(3, 0)
    (sent,) = api.sent
    assert sent.reply_to is None
    lines = plain(read_html(sent.text)).splitlines()
    assert [line.split(": ")[1] for line in lines] == ["0 / 600 (0%)", "20 / 600 (3%)", "40 / 600 (6%)"]


async def test_big_notices_stand_alone_and_order_is_kept(api: FakeApi, messenger: TelegramMessenger) -> None:
    left: Sequence[OutboxItem] = [
        item(answer()),
        item(answer()),
        item(board()),
        item(answer()),
        item(PageShown(Page.RULES)),
        item(PageShown(Page.HELP)),
    ]
    counts = []
    while left:
        told = await messenger.say(left)
        assert isinstance(told, Told)
        counts.append(told.count)
        left = left[told.count :]
    assert counts == [2, 1, 1, 1, 1]
    assert [sent.reply_to for sent in api.sent] == [None, 5, 5, 5, 5]


async def test_of_boards_asked_for_at_once_the_last_is_said(api: FakeApi, messenger: TelegramMessenger) -> None:
    newer = replace(board(), guesses_total=3, lines=(Line(1, PLAYER, 560, 93, 3),), players_total=1)
    items = [item(board(), reply_to=1), item(newer, reply_to=2), item(answer()), item(newer)]
    assert await messenger.say(items) == Told(2, 0)
    assert [sent.reply_to for sent in api.sent] == [2]
    assert "3 guesses" in api.sent[0].text


async def test_other_rounds_boards_and_other_pages_are_said_by_themselves(messenger: TelegramMessenger) -> None:
    assert await messenger.say([item(board()), item(replace(board(), number=2))]) == Told(1, 0)
    assert await messenger.say([item(PageShown(Page.HELP)), item(PageShown(Page.RULES))]) == Told(1, 0)
    assert await messenger.say([item(PageShown(Page.HELP))] * 3) == Told(3, 0)


@pytest.mark.parametrize("name", ["A", "👨‍👩‍👧‍👦" * 10, "&" * 64, "<" * 64])
async def test_a_message_holds_as_much_as_telegram_takes_and_no_more(
    api: FakeApi, messenger: TelegramMessenger, name: str
) -> None:
    items = [item(replace(answer(), player=PlayerId(minter.mint("PLR"))), name=name) for _ in range(200)]
    told = await messenger.say(items)
    assert isinstance(told, Told)
    (sent,) = api.sent
    assert units(sent.text) <= 4096
    assert entities(sent.text) <= 100
    line = (units(sent.text) + 1) / told.count
    assert told.count == 100 or units(sent.text) + line > 4096


async def test_a_flood_of_answers_shares_lines_and_leaves_none_out(api: FakeApi, messenger: TelegramMessenger) -> None:
    players = [PlayerId(minter.mint("PLR")) for _ in range(4)]
    items = [
        item(Answer(players[number % 4], 20 * (number % 30), 0, counted=True), name=f"P{number % 4}")
        for number in range(200)
    ]
    closed = [item(Refused(Refusal.ROUND_CLOSING, player=player), name="Zoe") for player in players] * 10
    won = item(answer(600), name="Ana")
    assert await messenger.say([*items, won, *closed]) == Told(241, 0)
    (sent,) = api.sent
    assert units(sent.text) <= 4096
    lines = plain(read_html(sent.text)).translate(ISOLATES).splitlines()
    assert len(lines) == 6
    for number, line in enumerate(lines[:4]):
        name, totals = line.split(" ", 1)[1].removesuffix(" / 600").split(": ")
        assert name == f"P{number}"
        assert [int(total) for total in totals.split(" · ")] == [20 * (at % 30) for at in range(number, 200, 4)]
    assert lines[4] == "🎉 Ana: 600 / 600 (100%) – cracked it!"
    assert lines[5].startswith("Zoe · 🏁 This round has just closed.")


async def test_what_even_shared_lines_have_no_room_for_is_said_next(api: FakeApi, messenger: TelegramMessenger) -> None:
    items = [item(replace(answer(), player=PlayerId(minter.mint("PLR")))) for _ in range(300)]
    counts = []
    while items:
        told = await messenger.say(items)
        assert isinstance(told, Told)
        counts.append(told.count)
        items = items[told.count :]
    assert len(counts) > 1
    assert sum(sent.text.count("560") for sent in api.sent) == 300


async def test_a_long_reveal_fits(api: FakeApi, messenger: TelegramMessenger) -> None:
    codes = theme("fruits").codes
    lines = tuple(Line(rank, PLAYER, 600, 100, 9_999) for rank in range(1, 11))
    reveal = RoundRevealed(
        RoundId(minter.mint("GAM")), 1, "fruits", CloseReason.CRACKED, PLAYER, codes[:6], "0" * 32, "f" * 64, lines
    )
    assert await messenger.say([item(reveal, name="👨‍👩‍👧‍👦" * 10, reply_to=None)]) == Told(1, 0)
    assert units(api.sent[0].text) < 4096


async def test_among_others_a_refusal_names_whom_it_answers(api: FakeApi, messenger: TelegramMessenger) -> None:
    refusal = Refused(Refusal.NO_ROUND, player=PLAYER)
    await messenger.say([item(refusal, reply_to=77), item(answer())])
    assert '<a href="https://t.me/c/1234567890/77">\u2068Ana\u2069</a> · 🎲 No round' in api.sent[0].text
    await messenger.say([item(refusal, reply_to=77, chat=-55), item(refusal, reply_to=78, chat=-55)])
    await messenger.say([item(refusal, reply_to=77)])
    await messenger.say([item(Refused(Refusal.NO_ROUND), reply_to=77), item(answer())])
    assert all("<a" not in sent.text for sent in api.sent[1:])
    assert "\u2068Ana\u2069 · 🎲 No round" in api.sent[1].text
    assert "Ana" not in api.sent[2].text, "alone, it is a reply to the message itself"


async def test_what_no_shared_line_holds_is_told_in_short_and_whole(api: FakeApi, messenger: TelegramMessenger) -> None:
    totals = [100 + 20 * (number % 10) for number in range(1_000)]
    assert await messenger.say([item(answer(total)) for total in totals]) == Told(1_000, 0)
    (sent,) = api.sent
    line = plain(read_html(sent.text))
    assert "1,000 guesses, the best 280, the last 280 / 600" in line
