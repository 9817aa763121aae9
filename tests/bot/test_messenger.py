"""Delivery: what goes into one message, and what is made of Telegram's answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import httpx
import pytest
from redis.asyncio import Redis
from telegram.error import BadRequest, TimedOut

from bot.application import build_bot
from bot.budget import Limits, SharedBudget
from bot.context import TelegramBot
from bot.messenger import TelegramMessenger
from bot.terminal.markup import plain, read_html
from bot.texts.markup import entities, units
from engine.game.model import CloseReason, RoundState
from engine.game.notices import (
    Answer,
    Board,
    LeverPulled,
    Line,
    Notice,
    Page,
    PageShown,
    Refusal,
    Refused,
    RoundRevealed,
)
from engine.game.ports import OutboxItem
from engine.game.themes import theme
from engine.ids import ChatId, Minter, NoticeId, PlayerId, RoundId
from engine.workers.ports import Moved, Told, TryLater, Unreachable
from tests.bot.api import BOT_ID, TOKEN, FakeApi, Fault, flood
from tests.bot.api import Refusal as Answered
from tests.bot.making import GROUP
from tests.bot.stage import ISOLATES, UNLIMITED

# The library reads its own deprecated attribute as it makes a RetryAfter.
pytestmark = pytest.mark.filterwarnings("ignore:.*retry_after:telegram.warnings.PTBDeprecationWarning")

minter = Minter(7)
PLAYER = PlayerId(minter.mint("PLR"))
CHAT = ChatId(minter.mint("CHT"))


def answer(total: int = 560) -> Answer:
    return Answer(PLAYER, total, total // 6, counted=True)


def item(
    notice: Notice, *, name: str = "Ana", reply_to: int | None = 5, thread: int = 0, chat: int = GROUP
) -> OutboxItem:
    id_ = NoticeId(minter.mint("NOT"))
    names = dict.fromkeys(notice.players(), name)
    return OutboxItem(id_, CHAT, chat, chat > 0, thread, notice, reply_to, names)


def board() -> Board:
    keys = theme("fruits").codes[:16]
    return Board(
        1,
        "fruits",
        keys,
        RoundState.OPEN,
        paused=False,
        remaining_ms=60_000,
        lines=(),
        players_total=0,
        guesses_total=0,
    )


@pytest.fixture
def api() -> FakeApi:
    return FakeApi()


@pytest.fixture
def messenger(api: FakeApi, redis: Redis) -> TelegramMessenger:
    return TelegramMessenger(_bot(api, redis, UNLIMITED))


def _bot(api: FakeApi, redis: Redis, limits: Limits) -> TelegramBot:
    return build_bot(TOKEN, budget=SharedBudget(redis, BOT_ID, limits), request=api, get_updates_request=api)


async def test_one_answer_replies_to_its_message(api: FakeApi, messenger: TelegramMessenger) -> None:
    assert await messenger.say([item(answer())]) == Told(1, 0)
    (sent,) = api.sent
    assert (sent.chat, sent.reply_to, sent.thread) == (GROUP, 5, None)
    assert sent.parameters["parse_mode"] == "HTML"
    assert sent.parameters["link_preview_options"] == {"is_disabled": True}


async def test_an_answer_arrives_although_its_message_was_deleted(api: FakeApi, messenger: TelegramMessenger) -> None:
    api.deleted.add(5)
    assert await messenger.say([item(answer())]) == Told(1, 0)
    assert len(api.sent) == 1


async def test_several_answers_go_into_one_message_in_order(api: FakeApi, messenger: TelegramMessenger) -> None:
    items = [item(answer(total)) for total in (0, 20, 40)]
    assert await messenger.say(items) == Told(3, 0)
    (sent,) = api.sent
    assert sent.reply_to is None
    lines = plain(read_html(sent.text)).splitlines()
    assert [line.split(": ")[1] for line in lines] == ["0 / 600 (0%)", "20 / 600 (3%)", "40 / 600 (6%)"]


@pytest.mark.parametrize(("chat", "rest_ms"), [(11, 1_000), (GROUP, 3_000)])
async def test_a_chat_that_was_spoken_to_rests(api: FakeApi, redis: Redis, chat: int, rest_ms: int) -> None:
    messenger = TelegramMessenger(_bot(api, redis, Limits()))
    assert await messenger.say([item(answer(), chat=chat)]) == Told(1, rest_ms)
    later = await messenger.say([item(answer(), chat=chat)])
    assert isinstance(later, TryLater)
    assert rest_ms - 1_000 < later.delay_ms <= rest_ms + 100
    assert api.count("sendMessage") == 1


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
    items = [item(answer()) for _ in range(1_000)]
    counts = []
    while items:
        told = await messenger.say(items)
        assert isinstance(told, Told)
        counts.append(told.count)
        items = items[told.count :]
    assert len(counts) == 2
    assert sum(sent.text.count("560") for sent in api.sent) == 1_000


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


@pytest.mark.parametrize(("thread", "sent_as"), [(0, None), (1, None), (7, 7)])
async def test_a_topic_is_addressed_and_general_never_is(
    api: FakeApi, messenger: TelegramMessenger, thread: int, sent_as: int | None
) -> None:
    await messenger.say([item(LeverPulled("pause"), thread=thread)])
    assert api.sent[0].thread == sent_as


@pytest.mark.parametrize(
    ("fault", "delay_ms"),
    [
        (flood(7), 7_000),
        (httpx.ConnectError("away"), 2_000),
        (httpx.ConnectTimeout("away"), 2_000),
        (httpx.PoolTimeout("busy"), 2_000),
        (Answered(500, "Internal Server Error"), 2_000),
        (Answered(502, "Bad Gateway"), 2_000),
        (Answered(401, "Unauthorized"), 30_000),
    ],
)
async def test_what_certainly_was_not_said_is_said_later(
    api: FakeApi, messenger: TelegramMessenger, fault: Fault, delay_ms: int
) -> None:
    api.faults["sendMessage"].append(_as_http(fault))
    later = await messenger.say([item(answer())])
    assert isinstance(later, TryLater)
    assert later.delay_ms == delay_ms
    assert "TEST" not in later.reason


async def test_a_chat_that_moved_says_where(api: FakeApi, messenger: TelegramMessenger) -> None:
    upgraded = "Bad Request: group chat was upgraded to a supergroup chat"
    api.faults["sendMessage"].append(Answered(400, upgraded, {"migrate_to_chat_id": -1009}))
    assert await messenger.say([item(answer())]) == Moved(-1009)


@pytest.mark.parametrize(
    "fault",
    [
        httpx.ReadTimeout("slow"),
        httpx.WriteTimeout("slow"),
        httpx.ReadError("reset"),
        httpx.RemoteProtocolError("cut"),
        httpx.WriteError("reset"),
        Answered(504, "Gateway Timeout"),
    ],
)
async def test_what_may_have_been_said_counts_as_said(api: FakeApi, messenger: TelegramMessenger, fault: Fault) -> None:
    api.faults["sendMessage"].append(_as_http(fault))
    assert await messenger.say([item(answer())]) == Told(1, 0)
    assert api.count("sendMessage") == 1


@pytest.mark.parametrize(
    ("fault", "whole_chat"),
    [
        (Answered(403, "Forbidden: bot was kicked from the supergroup chat"), True),
        (Answered(403, "Forbidden: bot was blocked by the user"), True),
        (Answered(400, "Bad Request: chat not found"), True),
        (Answered(400, "Bad Request: message thread not found"), False),
        (Answered(400, "Bad Request: TOPIC_CLOSED"), False),
        (Answered(400, "Bad Request: not enough rights to send text messages to the chat"), True),
    ],
)
async def test_a_chat_or_topic_that_is_gone_is_unreachable(
    api: FakeApi, messenger: TelegramMessenger, fault: Fault, *, whole_chat: bool
) -> None:
    api.faults["sendMessage"].append(fault)
    gone = await messenger.say([item(answer(), thread=7)])
    assert isinstance(gone, Unreachable)
    assert gone.whole_chat is whole_chat
    assert api.count("sendMessage") == 1


async def test_markup_that_telegram_refuses_is_said_plainly(api: FakeApi, messenger: TelegramMessenger) -> None:
    api.faults["sendMessage"].append(Answered(400, "Bad Request: can't parse entities: unsupported start tag"))
    assert await messenger.say([item(answer(), name="<b>")]) == Told(1, 0)
    assert "parse_mode" not in api.sent[0].parameters
    assert api.sent[0].text.startswith("🟢 \u2068<b>\u2069: 560")


async def test_a_refusal_nobody_foresaw_is_a_bug_and_raises(api: FakeApi, messenger: TelegramMessenger) -> None:
    api.faults["sendMessage"].append(Answered(400, "Bad Request: something new"))
    with pytest.raises(BadRequest, match="Something new"):
        await messenger.say([item(answer())])


async def test_a_bot_that_hears_only_replies_says_how_to_guess(redis: Redis) -> None:
    api = FakeApi(reads_all=False)
    bot = _bot(api, redis, UNLIMITED)
    async with bot:
        await TelegramMessenger(bot).say([item(PageShown(Page.HELP))])
    assert "Reply to this message with six emoji, or send /g and six emoji." in api.sent[0].text


def _as_http(fault: Fault) -> Fault:
    """As the library's HTTP client would raise it."""
    if isinstance(fault, httpx.TimeoutException):
        error = TimedOut()
        error.__cause__ = fault
        return error
    return fault
