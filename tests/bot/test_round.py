"""A round, from Telegram's updates to Telegram's messages."""

from __future__ import annotations

import pytest

from engine.game.request import Receipt
from tests.bot.making import ANA, BEN, GROUP, private
from tests.bot.stage import Stage


async def test_a_round_is_played_end_to_end(stage: Stage) -> None:
    assert (await stage.say("/newgame fruits 10")).receipt is Receipt.DURABLE
    (opened,) = await stage.told()
    assert "Round 1 · Fruits and garden" in opened
    assert (await stage.round()).commitment in opened
    assert (await stage.say(await stage.near_miss(), BEN)).receipt is Receipt.DURABLE
    assert await stage.told() == ["🟢 Ben: 560 / 600 (93%)"]
    secret = await stage.secret()
    await stage.say(secret, ANA)
    cracked, revealed = await stage.told()
    assert cracked == "🎉 Ana: 600 / 600 (100%) – cracked it!"
    assert "Ana cracked it!" in revealed
    assert f"The secret was {secret}" in revealed
    assert (await stage.round()).nonce in revealed
    await stage.say("/board", BEN)
    (board,) = await stage.told()
    assert "🥇 Ana – 600 / 600 (100%), 1 guess" in board
    assert "🥈 Ben – 560 / 600 (93%), 1 guess" in board
    assert "2 players · 2 guesses" in board


async def test_a_private_chat_is_a_room_whose_owner_is_its_admin(stage: Stage) -> None:
    chat = private(ANA)
    await stage.say("/newgame", ANA, chat)
    await stage.say("/pause", ANA, chat)
    opened, paused = await stage.told(chat["id"])
    assert "Send me six emoji." in opened
    assert paused.startswith("⏸️ Paused.")
    assert stage.api.count("getChatMember") == 0


async def test_nothing_that_is_said_of_an_open_round_gives_its_secret_away(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.api.admins.add((GROUP, ANA["id"]))
    await stage.say("/newgame animals")
    round_, secret = await stage.round(), await stage.secret()
    await stage.say(await stage.near_miss(), BEN)
    await stage.told()
    for command in ("/board", "/me", "/start", "/help", "/rules", "/newgame", "/limit 2", "/pause", "/resume"):
        await stage.say(command)
    await stage.told()
    said = "\n".join(stage.api.history)
    assert "📊 <b>Round 1" in said
    for text in (said, capsys.readouterr().out):
        for hidden in (secret, " ".join(secret), round_.nonce, " ".join(round_.secret), await stage.near_miss()):
            assert hidden not in text
