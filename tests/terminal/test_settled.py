"""A script waits as long as something happens, and no longer."""

from __future__ import annotations

import asyncio

import pytest

from bot.errors import NothingAnswered
from bot.terminal.chat import ClockIds, GroupChat
from bot.terminal.markup import Span
from bot.terminal.people import Person
from bot.terminal.settled import Settled
from engine.game.model import Place

ANA = Person.named("Ana")


def waiting(patience_s: float) -> tuple[GroupChat, Settled]:
    chat = GroupChat("Test", ANA, Person(1, "Codemojex"), ClockIds())

    async def quiet(place: Place) -> None:
        assert place.chat_ref == chat.ref

    return chat, Settled(chat, quiet, "play.log", patience_s)


async def test_it_returns_once_the_bot_confirmed_everything() -> None:
    chat, settled = waiting(60)
    await asyncio.wait_for(settled(), 20)
    chat.post(ANA, "hi")
    (update,) = await chat.updates.get(0, 100, 0)
    over = asyncio.create_task(settled())
    await chat.updates.get(update["update_id"], 100, 0)
    assert not over.done()
    await chat.updates.get(update["update_id"] + 1, 100, 0)
    await asyncio.wait_for(over, 20)


async def test_a_script_that_nobody_answers_does_not_wait_for_ever() -> None:
    chat, settled = waiting(0.2)
    chat.post(ANA, "hi")
    with pytest.raises(NothingAnswered, match=r"play\.log"):
        await asyncio.wait_for(settled(), 20)


async def test_while_the_chat_shows_something_it_goes_on_waiting() -> None:
    chat, settled = waiting(1)
    chat.post(ANA, "hi")
    over = asyncio.create_task(settled())
    for _ in range(8):
        await asyncio.wait({over}, timeout=0.25)
        chat.say((Span("still here"),), None)
    assert not over.done()
    over.cancel()
    await asyncio.gather(over, return_exceptions=True)
