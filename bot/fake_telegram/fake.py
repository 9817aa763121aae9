"""The fake as a whole: one bot's world, its people, its Bot API over HTTP, and the judge of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web

from bot.fake_telegram.budget import Budget, Limits
from bot.fake_telegram.crowd import Crowd
from bot.fake_telegram.desk import Desk
from bot.fake_telegram.membership import Membership
from bot.fake_telegram.messages import Message
from bot.fake_telegram.pending import Pending
from bot.fake_telegram.polling import Polling
from bot.fake_telegram.server import BotApiServer
from bot.fake_telegram.telling import MESSAGES, Telling
from bot.fake_telegram.timing import Timing
from bot.fake_telegram.webhook import Webhook
from bot.fake_telegram.world import Chat, User, UserId, World

TOKEN: Final = "4242:FAKE-token-that-opens-nothing-at-all-00"  # noqa: S105 - of this server alone
_SHUTDOWN_S: Final = 0.1


class FakeTelegram:
    """A Bot API for one bot.

    ``world`` makes people and chats, ``crowd`` has people write and press, ``membership`` has them come and go;
    ``faults`` are planned, ``ledger`` tells what chats showed, ``judge`` what should not have been done.

    Args:
        token: the bot's; its number is the bot's account.
        username: the bot's.
        reads_all: in groups the bot hears everything, not only commands and replies to it.
        limits: Telegram's budget; ``NO_LIMITS`` for loads.
        timing: how long things last.
        ids_alike: every chat numbers its messages from 1, so that ids of different chats are the same.
        first_chat: where the numbers of chats begin, so that those of another run on the same data are others.
    """

    def __init__(
        self,
        token: str = TOKEN,
        *,
        username: str = "codemojex_bot",
        reads_all: bool = True,
        limits: Limits | None = None,
        timing: Timing | None = None,
        ids_alike: bool = False,
        first_chat: int = 0,
    ) -> None:
        timing = timing or Timing()
        bot = User(UserId(int(token.partition(":")[0])), "Codemojex", username=username, is_bot=True)
        self.token = token
        self.url = ""
        self.world = World(bot, ids_alike=ids_alike, first_chat=first_chat)
        self.pending = Pending(timing)
        self.webhook = Webhook(self.pending, timing)
        polling = Polling(self.pending, timing)
        budget = Budget(limits or Limits())
        self.desk = Desk(self.world, timing, budget, self.pending, polling, self.webhook, reads_all)
        self.faults = self.desk.faults
        self.ledger = self.desk.ledger
        self.judge = self.desk.judge
        telling = Telling(self.world, self.pending, reads_all)
        self.crowd = Crowd(self.world, telling, self.desk.presses, timing)
        self.membership = Membership(self.world, telling)

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[FakeTelegram]:
        """Serve on ``port`` (0: a free one) while this lasts; ``url`` is the address up to ``/bot``."""
        server = BotApiServer(self.desk, self.token)
        runner = web.AppRunner(server.application(), access_log=None, shutdown_timeout=_SHUTDOWN_S)
        await runner.setup()
        try:
            await web.TCPSite(runner, host, port).start()
            self.url = f"http://{host}:{runner.addresses[0][1]}"
            yield self
        finally:
            self.desk.polling.end()
            await self.webhook.stop()
            await runner.cleanup()

    async def post_again(self, message: Message, copies: int = 1) -> list[int]:
        """Post the update of ``message`` so many times at once, past its line; answers the statuses.

        Raises:
            ValueError: the bot was not told of it.
            OSError: there is no connection, or it is gone.
            TimeoutError: no answer in time.
        """
        if message.update is None:
            raise ValueError(f"the bot was not told of message {message.id}")
        return await self.webhook.post_copies(message.update, copies)

    def waiting(self, chat: Chat) -> int:
        """Messages of ``chat`` that were said and that the webhook has not confirmed."""
        return self.webhook.waiting((MESSAGES, chat.id))

    def assert_clean(self) -> None:
        """Fail where the bot did anything that Telegram does not bear.

        Raises:
            AssertionError: it lists the breaches.
        """
        self.judge.assert_clean()
