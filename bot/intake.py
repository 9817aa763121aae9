"""Takes updates from Telegram by polling, and confirms only what is safe.

An update is confirmed (Telegram forgets it) once it has a receipt and so has every update before it. A process that
dies leaves its unconfirmed updates to the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, Final, NoReturn, Protocol, TypeVar

import structlog
from telegram.error import Conflict, InvalidToken, RetryAfter, TelegramError

from bot import events
from bot.context import GameApplication
from bot.errors import TokenRefused
from bot.halts import retry_after_ms
from bot.handlers import ALLOWED_UPDATES
from bot.outages import is_outage
from bot.pace import Pace
from bot.pulse import Pulse
from bot.serving import Serving
from bot.taking import Taking

_T = TypeVar("_T")
_REMEDY: Final = "see that this machine reaches it, or correct CODEMOJEX_TELEGRAM_API"

_log = structlog.get_logger(__name__)


class Lease(Protocol):
    """The right to poll: Telegram lets one process at a time."""

    async def acquire(self) -> None:
        """Return once this process has the right; waits as long as another has it. Cancelling it takes nothing."""
        ...

    def held(self) -> bool:
        """Whether this process has it still. Asked before every poll; never blocks."""
        ...

    async def release(self) -> None:
        """Give it back, so that the next need not wait for it to lapse. Harmless where it isn't held."""
        ...


class Intake:
    """Polls for one application, which must be initialized.

    Args:
        taking: takes the updates.
        lease: where several processes stand by, the right to poll; None: this one always has it.
        pulse: beats with each poll that Telegram answered; the lease may beat it while this process stands by.
    """

    def __init__(self, taking: Taking, *, lease: Lease | None = None, pulse: Pulse | None = None) -> None:
        self._pulse = pulse or Pulse()
        self._taking = taking
        self._application = taking.application
        self._pace = taking.pace
        self._lease = lease

    async def run(self, stop: asyncio.Event) -> None:
        """Take updates until ``stop`` is set; then finish what is in work, confirm what is safe, and return.

        Raises:
            TokenRefused: Telegram doesn't know the token (any more).
        """
        while await self._may_poll(stop):
            serving = Serving(self._taking)
            _log.info(events.POLLING_BEGAN)
            try:
                await self._poll(serving, stop)
            finally:
                await serving.end()
                await self._confirm(serving)
                await self._give_back()
                _log.info(events.POLLING_ENDED)

    async def _may_poll(self, stop: asyncio.Event) -> bool:
        """Wait for the right to poll; False where the stop came first."""
        failures = 0
        while not stop.is_set():
            if self._lease is None:
                return True
            try:
                await _unless(stop, self._lease.acquire())
            except Exception as error:
                if not is_outage(error):
                    raise
                failures += 1
                await self._rest(stop, events.LEASING_FAILED, error, failures)
            else:
                if not stop.is_set():
                    return True
                await self._give_back()  # it may have come in the moment of the stop
        return False

    async def _poll(self, serving: Serving, stop: asyncio.Event) -> None:
        failures = 0
        webhook = True
        poll_s = 0  # the first answer is not put off: until it is there, health says that nothing was polled
        while not stop.is_set():
            if self._lease is not None and not self._lease.held():
                _log.warning(events.LEASE_LOST)
                return
            try:
                if webhook:
                    await self._application.bot.delete_webhook(drop_pending_updates=False)
                    webhook = False
                await self._look(serving, stop, poll_s)
                poll_s = self._pace.poll_s
            except InvalidToken:
                _refuse_token()
            except RetryAfter as error:
                await _unless(stop, asyncio.sleep(retry_after_ms(error) / 1000))
            except TelegramError as error:
                failures += 1
                # Telegram lets nobody poll while a webhook is set, and says so; else somebody else polls.
                webhook = webhook or (isinstance(error, Conflict) and "webhook" in str(error).lower())
                event = events.POLLED_ELSEWHERE if isinstance(error, Conflict) else events.POLLING_FAILED
                await self._rest(stop, event, error, failures)
            else:
                if failures:
                    _log.info(events.POLLING_RESUMED, failures=failures)
                failures = 0

    async def _look(self, serving: Serving, stop: asyncio.Event, poll_s: int) -> None:
        """Ask Telegram once, and give what is in work some time."""
        if not serving.full:
            wait_s = poll_s if serving.idle else 0
            for raw in await _unless(stop, self._updates(serving.confirmable(), wait_s)) or []:
                serving.offer(raw)
        await _unless(stop, serving.settle(self._pace.look_ms))
        serving.confirmable()

    async def _updates(self, offset: int | None, poll_s: int) -> list[dict[str, Any]]:
        answer = await self._application.bot.raw_updates(offset, poll_s, ALLOWED_UPDATES)
        self._pulse.beat()
        return answer

    async def _confirm(self, serving: Serving) -> None:
        offset = serving.confirmable()
        if offset is None:
            return
        try:
            await self._updates(offset, 0)
        except TelegramError as error:
            # They come again, and are recognised.
            _log.warning(events.POLLING_FAILED, error=_kind(error))

    async def _give_back(self) -> None:
        if self._lease is None:
            return
        try:
            await self._lease.release()
        except Exception as error:
            if not is_outage(error):
                raise
            _log.warning(events.LEASING_FAILED, error=_kind(error))

    async def _rest(self, stop: asyncio.Event, event: str, error: Exception, failures: int) -> None:
        pause_ms = self._pace.pause_ms(failures)
        _log.warning(event, failures=failures, pause_ms=pause_ms, error=_kind(error))
        await _unless(stop, asyncio.sleep(pause_ms / 1000))


async def connect(
    application: GameApplication, stop: asyncio.Event, *, api: str = "", pace: Pace | None = None
) -> bool:
    """Initialize the application: learn from Telegram who the bot is. Tries for as long as Telegram is away.

    Args:
        application: the bot's.
        stop: ends the tries.
        api: where the Bot API is, for the log.
        pace: how patient to be.

    Returns:
        False where the stop came first.

    Raises:
        TokenRefused: Telegram doesn't know the token.
    """
    pace = pace or Pace()
    failures = 0
    while not stop.is_set():
        try:
            await application.initialize()
        except InvalidToken:
            _refuse_token()
        except TelegramError as error:
            failures += 1
            pause_ms = retry_after_ms(error) if isinstance(error, RetryAfter) else pace.pause_ms(failures)
            told = {"api": api, "failures": failures, "pause_ms": pause_ms, "error": _kind(error)}
            _log.warning(events.CONNECTING_FAILED, remedy=_REMEDY, **told)
            await _unless(stop, asyncio.sleep(pause_ms / 1000))
        else:
            _log.info(events.CONNECTED, bot=application.bot.id)
            if not application.bot.can_read_all_group_messages:
                _log.warning(events.HEARS_ONLY_REPLIES, remedy="turn off its privacy mode: @BotFather, /setprivacy")
            return True
    return False


def _refuse_token() -> NoReturn:
    # The library's error has the token in its text, so it goes no further.
    raise TokenRefused from None


def _kind(error: Exception) -> str:
    return type(error.__cause__ or error).__name__


async def _unless(stop: asyncio.Event, awaitable: Awaitable[_T]) -> _T | None:
    """What ``awaitable`` answers, or None where the stop came first; then it is cancelled."""
    work = asyncio.ensure_future(awaitable)
    stopped = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({work, stopped}, return_when=asyncio.FIRST_COMPLETED)
        return work.result() if work.done() else None
    finally:
        for task in (work, stopped):
            task.cancel()
        await asyncio.gather(work, stopped, return_exceptions=True)
