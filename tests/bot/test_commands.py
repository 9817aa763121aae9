"""Commands: whom they are for, who may give them, and what bad ones are told."""

from __future__ import annotations

import httpx
import pytest
from redis.asyncio import Redis

from bot.texts import COMMAND_MENU
from engine.game.request import Receipt
from engine.game.themes import THEMES
from tests.bot.api import BOT_NAME, Refusal
from tests.bot.making import ANA, BEN, GROUP, anonymously, message, private, update
from tests.bot.stage import Stage, stage_on

ONLY_ADMINS = "🔑 Only this chat's admins can do that. Ask one of them?"


@pytest.mark.parametrize("command", ["/start", "/help", "/rules"])
async def test_pages_are_shown_in_groups_and_in_private(stage: Stage, command: str) -> None:
    assert (await stage.say(command)).receipt is Receipt.DURABLE
    await stage.say(command, ANA, private(ANA))
    for chat in (GROUP, ANA["id"]):
        (page,) = await stage.told(chat)
        assert len(page) > 100


async def test_help_and_menu_name_every_command(stage: Stage) -> None:
    await stage.say("/help")
    (page,) = await stage.told()
    for name, description in COMMAND_MENU:
        assert f"/{name}" in page or name == "help"
        assert 3 <= len(description) <= 256


async def test_a_command_may_name_the_bot_in_any_case(stage: Stage) -> None:
    await stage.say(f"/NewGame@{BOT_NAME.upper()} fruits 5")
    assert "You have 5 min." in (await stage.told())[0]


@pytest.mark.parametrize("text", ["/newgame@OtherBot fruits", "/pause@OtherBot", "/dance", "/g@OtherBot 🍎🍐🍊🍋🍌🍉"])
async def test_commands_for_others_are_passed_over(stage: Stage, text: str) -> None:
    assert (await stage.say(text)).receipt is Receipt.REFUSED
    assert await stage.told() == []


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("/newgame nothing", f"🎨 That theme isn't one of mine. I have: {', '.join(THEMES)}"),
        ("/newgame <i>&", f"🎨 That theme isn't one of mine. I have: {', '.join(THEMES)}"),
        ("/newgame fruits ten", "⏱️ A round lasts 1 to 1,440 whole minutes"),
        ("/newgame fruits 0", "⏱️ A round lasts 1 to 1,440 whole minutes"),
        ("/newgame 1441", "⏱️ A round lasts 1 to 1,440 whole minutes"),
        (f"/newgame {'9' * 4000}", "🎨 That theme isn't one of mine."),
        ("/newgame fruits 5 now", "⏱️ A round lasts 1 to 1,440 whole minutes"),
        ("/limit", "⚙️ The limit is a whole number from 1 up, like /limit 4"),
        ("/limit 0", "⚙️ The limit is a whole number from 1 up, like /limit 4"),
        ("/limit -2", "⚙️ The limit is a whole number from 1 up, like /limit 4"),
        ("/limit x", "⚙️ The limit is a whole number from 1 up, like /limit 4"),
        ("/limit 4.5", "⚙️ The limit is a whole number from 1 up, like /limit 4"),
        ("/limit 9", "⚙️ 9 is more than this chat may have. The highest is 8: /limit 8"),
        (f"/limit {'9' * 60}", "⚙️ 1,000,000,000 is more than this chat may have. The highest is 8: /limit 8"),
        ("/resume", "▶️ The game isn't paused. Guess away!"),
        ("/endgame", "🎲 No round is running here. Start one with /newgame"),
        ("/board", "🎲 No round is running here. Start one with /newgame"),
    ],
)
async def test_a_command_that_cannot_be_followed_is_told_why(stage: Stage, text: str, answer: str) -> None:
    stage.api.admins.add((GROUP, ANA["id"]))
    assert (await stage.say(text)).receipt is Receipt.REFUSED
    (told,) = await stage.told()
    assert told.startswith(answer)


@pytest.mark.parametrize(
    ("text", "theme", "minutes"),
    [
        ("/newgame", "fruits", 10),
        ("/newgame 25", "fruits", 25),
        ("/newgame FOOD", "food", 10),
        ("/newgame food 3", "food", 3),
    ],
)
async def test_theme_and_minutes_may_be_left_out(stage: Stage, text: str, theme: str, minutes: int) -> None:
    await stage.say(text)
    round_ = await stage.round()
    assert (round_.theme, round_.minutes) == (theme, minutes)


async def test_a_second_newgame_is_shown_the_running_round(stage: Stage) -> None:
    await stage.say("/newgame")
    await stage.told()
    await stage.say("/newgame", BEN)
    assert await stage.told() == ["🎯 A round is already running: join in! /board shows it"]


@pytest.mark.parametrize("command", ["/pause", "/resume", "/limit 3", "/endgame"])
async def test_a_player_cannot_pull_an_admins_levers(stage: Stage, command: str) -> None:
    await stage.say("/newgame")
    await stage.told()
    assert (await stage.say(command, BEN)).receipt is Receipt.REFUSED
    assert await stage.told() == [ONLY_ADMINS]
    room = await stage.room()
    assert room is not None
    assert (room.paused, room.chat_limit) == (False, None)


async def test_a_demoted_admin_is_a_player(stage: Stage) -> None:
    stage.api.admins.add((GROUP, ANA["id"]))
    await stage.say("/newgame")
    await stage.say("/limit 3")
    stage.api.admins.clear()
    await stage.say("/pause")
    assert (await stage.told())[1:] == [
        "⚙️ From now on at most 3 guesses of this chat are worked on at once.",
        ONLY_ADMINS,
    ]


async def test_pause_and_resume_keep_the_clock(stage: Stage) -> None:
    stage.api.admins.add((GROUP, ANA["id"]))
    await stage.say("/newgame 10")
    await stage.say("/pause")
    await stage.say("/pause")
    await stage.say("/board")
    _, paused, again, board = await stage.told()
    assert paused.startswith("⏸️ Paused.")
    assert again == "⏸️ The game is paused already. /resume goes on"
    assert "⏸️ Paused, 10 min on the clock" in board
    await stage.say("/resume")
    assert (await stage.told())[0].startswith("▶️ On we go!")


@pytest.mark.case("T5")
async def test_an_anonymous_admin_is_an_admin_and_no_player(stage: Stage) -> None:
    await stage.take(anonymously("/newgame"))
    secret = await stage.secret()
    await stage.take(anonymously("/pause"))
    room = await stage.room()
    assert room is not None
    assert room.paused
    await stage.take(anonymously("/resume"))
    await stage.told()
    for _ in range(3):
        assert (await stage.take(anonymously(secret))).receipt is Receipt.REFUSED
    (told,) = await stage.told()
    assert told.startswith("🎭 Anonymous admins can't play")
    assert await stage.guesses() == 0
    assert stage.api.count("getChatMember") == 0


async def test_the_anonymous_account_speaking_for_another_chat_is_nobody(stage: Stage) -> None:
    stranger = message("/pause", {"id": 1087968824, "is_bot": True, "first_name": "Group"})
    slip = await stage.take(update({**stranger, "sender_chat": {"id": -1008, "type": "supergroup", "title": "Else"}}))
    assert slip.receipt is Receipt.REFUSED
    assert await stage.room() is None


@pytest.mark.parametrize("fault", [httpx.ReadTimeout("slow"), Refusal(502, "Bad Gateway"), httpx.ConnectError("away")])
async def test_where_the_admins_cannot_be_asked_for_nothing_is_acknowledged(
    stage: Stage, fault: Exception | Refusal
) -> None:
    stage.api.admins.add((GROUP, ANA["id"]))
    await stage.say("/newgame")
    await stage.told()
    pausing = update(message("/pause"))
    stage.api.faults["getChatMember"].append(fault)
    slip = await stage.take(pausing)
    assert slip.receipt is None
    assert slip.error is not None
    assert await stage.told() == []
    assert (await stage.take(pausing)).receipt is Receipt.DURABLE
    assert (await stage.told())[0].startswith("⏸️ Paused.")


async def test_who_is_unknown_to_telegram_is_no_admin(stage: Stage) -> None:
    stage.api.faults["getChatMember"].append(Refusal(400, "Bad Request: user not found"))
    assert (await stage.say("/pause")).receipt is Receipt.REFUSED
    assert await stage.told() == [ONLY_ADMINS]


async def test_me_shows_ones_own_record(stage: Stage) -> None:
    await stage.say("/me", BEN)
    (before,) = await stage.told()
    assert before.splitlines()[0] == "👤 Ben"
    assert "no guess yet" in before
    await stage.say("/newgame")
    await stage.say(await stage.near_miss(), BEN)
    await stage.say(await stage.secret(), ANA)
    await stage.told()
    await stage.say("/me", BEN)
    (me,) = await stage.told()
    assert me.splitlines() == [
        "👤 Ben",
        "🎯 This round: 2nd of 2, best 560 / 600 (93%), 1 guess",
        "🏠 All rounds here: 0 wins, best 560 / 600 (93%), 1 guess",
    ]
    await stage.take(anonymously("/me"))
    assert (await stage.told())[0].startswith("🎭")


async def test_a_full_room_is_told_when_to_try_again_and_an_operator_s_levers_bound_the_chat_s(
    redis: Redis, ready_sqlite_url: str
) -> None:
    async with stage_on(redis, ready_sqlite_url, working=False) as stage:
        stage.api.admins.add((GROUP, ANA["id"]))
        await stage.say("/newgame")
        room = await stage.room()
        assert room is not None
        operators = stage.house.game.operators
        await operators.change_plan("small", {"cap": 1, "ceiling": 2})
        await operators.give(room.id, "small")
        assert (await stage.say(await stage.near_miss(), BEN)).receipt is Receipt.DURABLE
        assert (await stage.say(await stage.near_miss(), BEN)).receipt is Receipt.REFUSED
        assert (await stage.say("/limit 3")).receipt is Receipt.REFUSED
    async with stage_on(redis, ready_sqlite_url) as stage:
        told = "\n".join(await stage.told())
    assert "🚦 1 guess is in line here already, and no more fit. Please try again in about" in told
    assert "⚙️ 3 is more than this chat may have. The highest is 2: /limit 2" in told


async def test_an_operator_s_pause_is_told_to_the_chat_and_its_admins_may_end_it(stage: Stage) -> None:
    stage.api.admins.add((GROUP, ANA["id"]))
    await stage.say("/newgame")
    await stage.told()
    room = await stage.room()
    assert room is not None
    await stage.house.game.operators.pause(room.id)
    (paused,) = await stage.told()
    assert paused.startswith("⏸️ Paused.")
    await stage.say("/resume")
    assert (await stage.told())[0].startswith("▶️ On we go!")
