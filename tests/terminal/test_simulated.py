"""A simulated player reads the chat and nothing else."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from bot.terminal.chat import ClockIds, GroupChat, Said
from bot.terminal.markup import Span, read_html
from bot.terminal.mind import Mind
from bot.terminal.people import Person
from bot.terminal.simulated import SimulatedPlayer
from bot.texts import ENGLISH, Scene
from engine.game.draw import SeededDraw
from engine.game.model import CloseReason
from engine.game.notices import Answer, Refusal, Refused, RoundOpened, RoundRevealed
from engine.game.themes import THEMES
from engine.ids import PLAYER, ROUND, PlayerId, RoundId, brand
from tests.waiting import wait_until

MIRA = Person.named("Mira")
DRAWN = SeededDraw(1).draw(THEMES["fruits"], 1)
ROUND_ID = RoundId(brand(ROUND, 1))
PLAYER_ID = PlayerId(brand(PLAYER, 1))
SCENE = Scene(private=False, names={PLAYER_ID: "Mira"})


class Table:
    """A chat with one simulated player and a test that speaks for the bot."""

    def __init__(self) -> None:
        self.chat = GroupChat("Test", Person.named("Ana"), Person(1, "Codemojex"), ClockIds())
        self.guesses: list[str] = []
        self.chat.watch(self._note)
        chance = random.Random(1)  # noqa: S311 - repeatable is what it is for
        self.player = SimulatedPlayer(MIRA, self.chat, Mind(chance, 50), 0, chance)

    def _note(self, said: Said) -> None:
        if said.author == MIRA:
            self.guesses.append(said.text)

    def say(self, html: str) -> None:
        self.chat.say(read_html(html), None)

    def open(self) -> None:
        notice = RoundOpened(ROUND_ID, 1, "fruits", DRAWN.keyboard, "0" * 64, 10)
        self.say(ENGLISH.round_opened(notice, SCENE))

    def answer(self, total: int = 120) -> None:
        self.say(ENGLISH.answer(Answer(PLAYER_ID, total, 20, counted=True), SCENE))

    async def guessed(self, times: int) -> None:
        await wait_until(lambda: len(self.guesses) >= times, f"Mira guessed {times}x")

    async def stays_silent(self) -> None:
        """Whoever would speak without waiting for anything has done so after this many turns of the loop."""
        before = len(self.guesses)
        for _ in range(100):
            await asyncio.sleep(0)
        assert len(self.guesses) == before


@asynccontextmanager
async def table() -> AsyncIterator[Table]:
    made = Table()
    running = asyncio.create_task(made.player.run())
    try:
        yield made
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_it_waits_for_a_round_then_guesses_once_an_answer() -> None:
    async with table() as made:
        await made.stays_silent()
        made.open()
        await made.guessed(1)
        await made.stays_silent()
        made.answer()
        await made.guessed(2)


@pytest.mark.parametrize("name", ["Theo", "xMira", "Mira M"])
async def test_another_s_answer_is_not_its_own(name: str) -> None:
    async with table() as made:
        made.open()
        await made.guessed(1)
        other = PlayerId(brand(PLAYER, 2))
        made.say(ENGLISH.answer(Answer(other, 20, 3, counted=True), Scene(private=False, names={other: name})))
        await made.stays_silent()


def endings() -> Iterator[str]:
    revealed = RoundRevealed(
        ROUND_ID, 1, "fruits", CloseReason.ENDED, None, DRAWN.secret, DRAWN.nonce, "0" * 64, lines=()
    )
    yield ENGLISH.round_revealed(revealed, SCENE)
    yield ENGLISH.refused(Refused(Refusal.NO_ROUND), SCENE)
    yield ENGLISH.refused(Refused(Refusal.ROUND_CLOSING), SCENE)
    yield ENGLISH.answer(Answer(PlayerId(brand(PLAYER, 2)), 600, 100, counted=True), SCENE)


@pytest.mark.parametrize("ending", [*endings()])
async def test_it_stops_when_the_round_does_and_begins_with_the_next(ending: str) -> None:
    async with table() as made:
        made.open()
        await made.guessed(1)
        made.say(ending)
        await made.stays_silent()
        made.open()
        await made.guessed(2)


async def test_what_people_say_tells_it_nothing() -> None:
    async with table() as made:
        text = "\n".join(" ".join(THEMES["fruits"].emoji[at : at + 8]) for at in (0, 8))
        made.chat.post(Person.named("Ana"), text)
        await made.stays_silent()
        assert made.chat.say((Span("hello"),), None) > 0
        await made.stays_silent()
