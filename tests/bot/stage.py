"""The whole bot on a test's servers: real Application, lanes, SQL and workers; only Telegram is inside the process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from redis.asyncio import Redis
from telegram import Update

from bot.apology import Apology
from bot.application import build_application, build_bot
from bot.budget import Limits, SharedBudget
from bot.context import GameApplication, TelegramBot
from bot.messenger import TelegramMessenger
from bot.receipts import Slip, process
from bot.texts.markup import plain
from engine.game.model import KEYBOARD_SIZE, SECRET_LENGTH, Place, Room, Round
from engine.game.ports import Draw, Drawn
from engine.game.service import Game
from engine.game.themes import Theme, theme
from engine.workers.crew import Crew, CrewSettings
from engine.workers.quiet import Quiet
from tests.bot.api import BOT_ID, TOKEN, FakeApi
from tests.bot.making import GROUP, said
from tests.workers.making import House, house

UNLIMITED = Limits(calls_a_second=0, private_gap_ms=0, group_gap_ms=0, group_calls_a_minute=0)
ISOLATES = str.maketrans("", "", "\u2068\u2069\u2060")


@dataclass(frozen=True)
class FirstOnes:
    """Draws the first emoji of a theme for the keyboard, and the first of those for the secret."""

    def draw(self, theme: Theme, number: int) -> Drawn:
        keyboard = theme.codes[:KEYBOARD_SIZE]
        return Drawn(keyboard, keyboard[:SECRET_LENGTH], f"{number:032x}")


@dataclass
class Stage:
    """One bot, its workers, and the Telegram it speaks to."""

    api: FakeApi
    application: GameApplication
    house: House

    async def take(self, update: dict[str, Any]) -> Slip:
        """Have the application take an update, as an intake would."""
        return await process(self.application, self.parsed(update))

    def parsed(self, update: dict[str, Any]) -> Update:
        """The update as the library reads it."""
        return Update.de_json(update, self.application.bot)

    async def say(self, text: str, *args: Any, **fields: Any) -> Slip:
        """Have someone say something: the arguments are those of ``said``."""
        return await self.take(said(text, *args, **fields))

    async def told(self, chat: int = GROUP, thread: int = 0) -> list[str]:
        """What the chat was told since the last time this was asked, once all is quiet, as readers see it."""
        place = Place(chat, thread, "", private=chat > 0)
        await asyncio.wait_for(Quiet(self.house.units, self.house.world.lanes).wait(place), 20)
        texts = [plain(text).translate(ISOLATES) for text in self.api.texts(chat)]
        self.api.sent = [sent for sent in self.api.sent if sent.chat != chat]
        return texts

    async def room(self, chat: int = GROUP, thread: int = 0) -> Room | None:
        async with self.house.units.read() as work:
            return await work.rooms.find(Place(chat, thread, "", private=chat > 0))

    async def round(self, chat: int = GROUP, thread: int = 0) -> Round:
        room = await self.room(chat, thread)
        assert room is not None
        async with self.house.units.read() as work:
            round_ = await work.rounds.newest(room.id)
        assert round_ is not None
        return round_

    async def secret(self, chat: int = GROUP) -> str:
        round_ = await self.round(chat)
        return theme(round_.theme).show(round_.secret)

    async def near_miss(self, chat: int = GROUP, thread: int = 0) -> str:
        """The secret with its first two emoji swapped: 560."""
        round_ = await self.round(chat, thread)
        first, second, *rest = round_.secret
        return theme(round_.theme).show([second, first, *rest])

    async def guesses(self, chat: int = GROUP) -> int:
        """Guesses that count in the newest round."""
        round_ = await self.round(chat)
        async with self.house.units.read() as work:
            return sum(standing.guesses for standing in await work.guesses.standings(round_.id))


def bot_on(api: FakeApi, redis: Redis, limits: Limits) -> TelegramBot:
    """A bot that speaks to ``api``, on the budget that ``redis`` keeps."""
    return build_bot(TOKEN, budget=SharedBudget(redis, BOT_ID, limits), request=api, get_updates_request=api)


def _as_it_is(_: FakeApi) -> None:
    pass


@asynccontextmanager
async def stage_on(
    redis: Redis,
    database_url: str,
    *,
    working: bool = True,
    draw: Draw | None = None,
    reads_all: bool = True,
    deleted: Collection[int] = (),
    limits: Limits = UNLIMITED,
    prepare: Callable[[FakeApi], object] = _as_it_is,
) -> AsyncIterator[Stage]:
    """Start a bot with its workers; entering it again on the same servers is a restart.

    ``deleted`` are messages that Telegram no longer has; ``prepare`` is done to it before anybody speaks to it.
    """
    api = FakeApi(reads_all=reads_all)
    api.deleted.update(deleted)
    prepare(api)
    async with house(redis, database_url) as made:
        game = made.game if draw is None else Game.on(replace(made.world, draw=draw))
        application = build_application(
            bot_on(api, redis, limits),
            game,
            apology=Apology(after_ms=0),
        )
        messenger = TelegramMessenger(application.bot)
        crew = Crew(made.world, made.queues, messenger, CrewSettings(sweep_ms=50))
        stop = asyncio.Event()
        async with application:
            working_on = asyncio.create_task(crew.run(stop)) if working else None
            try:
                yield Stage(api, application, made)
            finally:
                stop.set()
                if working_on is not None:
                    await asyncio.wait_for(working_on, 10)
