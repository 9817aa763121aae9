"""Telling Telegram where to post, and looking now and then whether it still knows."""

from __future__ import annotations

import asyncio
from typing import Final

import structlog
from telegram import WebhookInfo
from telegram.error import InvalidToken, RetryAfter, TelegramError

from bot import events
from bot.context import TelegramBot
from bot.errors import TokenRefused
from bot.halts import retry_after_ms
from bot.handlers import ALLOWED_UPDATES
from bot.pace import Pace
from bot.web.places import Webhook
from engine.workers.stopping import pause_unless

LOOK_EVERY_S: Final = 300.0

_log = structlog.get_logger(__name__)


class Registration:
    """Sets the webhook. Any number of bots may do so: they all say the same.

    Args:
        bot: speaks to Telegram.
        webhook: what to say.
        pace: how patient to be.
        look_every_s: between two looks at what Telegram knows.

    Attributes:
        done: whether Telegram was told.
    """

    def __init__(
        self, bot: TelegramBot, webhook: Webhook, pace: Pace | None = None, look_every_s: float = LOOK_EVERY_S
    ) -> None:
        self.done = False
        self._bot = bot
        self._webhook = webhook
        self._pace = pace or Pace()
        self._look_every_s = look_every_s

    async def run(self, stop: asyncio.Event) -> None:
        """Set it, trying for as long as that takes, and look after it until ``stop``. It is left as it is then.

        Raises:
            TokenRefused: Telegram doesn't know the token (any more).
        """
        failures = 0
        while not stop.is_set():
            try:
                await self._turn()
            except InvalidToken:
                raise TokenRefused from None
            except TelegramError as error:
                failures += 1
                pause_ms = retry_after_ms(error) if isinstance(error, RetryAfter) else self._pace.pause_ms(failures)
                why = error.message.replace(self._webhook.secret, "[redacted]")
                _log.warning(events.WEBHOOK_FAILED, failures=failures, pause_ms=pause_ms, why=why)
                await pause_unless(stop, pause_ms / 1_000)
            else:
                failures = 0
                await pause_unless(stop, self._look_every_s)

    async def _turn(self) -> None:
        if self.done:
            known = await self._bot.get_webhook_info()
            self._tell(known)
            if known.url:
                return
        await self._bot.set_webhook(
            self._webhook.url,
            secret_token=self._webhook.secret,
            max_connections=self._webhook.connections,
            allowed_updates=ALLOWED_UPDATES,
            drop_pending_updates=False,
        )
        self.done = True
        _log.info(events.WEBHOOK_SET, path=self._webhook.path)

    def _tell(self, known: WebhookInfo) -> None:
        if known.url and known.url != self._webhook.url:
            # Perhaps a newer version that takes over: two that set each other's would never end.
            _log.warning(events.WEBHOOK_ELSEWHERE, remedy="stop this bot, or the one that polls or set another webhook")
        if known.pending_update_count and known.last_error_message:
            _log.warning(events.WEBHOOK_FAILED, pending=known.pending_update_count, why=known.last_error_message)
