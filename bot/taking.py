"""Taking one update: try it, count where it fails by itself, set it aside where it always does.

Both intakes do it this way. A failure is of one of two kinds. A server that is away (``bot.outages``) fails everybody:
the update is not at fault, is not counted, and comes again for as long as it takes. Anything else is the update's own
failure: it is counted in SQL, over restarts and by all processes together, and after a few tries the update is kept
there with its error and acknowledged, so that it stops none behind it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final

import structlog
from telegram import Update

from bot import events
from bot.context import GameApplication
from bot.deadlines import Deadlines
from bot.outages import is_outage
from bot.pace import Pace
from bot.pulse import Pulse
from bot.receipts import Slip, process
from engine.game.recent import Recent
from engine.store.aside import LONGEST_BODY, Failure
from engine.store.work import SqlUnits

UNREADABLE: Final = "unreadable"
_REMEMBERED: Final = 10_000
_COUNT_MS: Final = 10_000
_DIGITS: Final = 8
"""Of an update's hash, beside its number: few updates share a number, and people type names."""

_log = structlog.get_logger(__name__)


class Outcome(StrEnum):
    """What became of an update: it has a receipt, it was set aside, or it must come again."""

    RECEIVED = "received"
    SET_ASIDE = "set aside"
    NOT_YET = "not yet"

    @property
    def acknowledged(self) -> bool:
        """Whether Telegram may forget the update."""
        return self is not Outcome.NOT_YET


class UpdateTookTooLong(Exception):  # noqa: N818 - reads as what happened
    """A handler didn't end in time, though no server said that it is away."""


class Unreadable(Exception):  # noqa: N818 - reads as what it is
    """What came is no update."""


def _untold(_: Outcome) -> None:
    """Nobody wants to know."""


class Taking:
    """Takes updates for one application.

    Args:
        application: takes them; it is initialized.
        units: where failures are counted, and what is set aside is kept.
        pace: how patient to be.
        took: is told of each outcome.

    Attributes:
        pulse: beats with each update that is acknowledged, misses with each that an outage kept from it.
        deadlines: for whatever an update waits for.
    """

    def __init__(
        self,
        application: GameApplication,
        units: SqlUnits,
        pace: Pace | None = None,
        took: Callable[[Outcome], None] = _untold,
    ) -> None:
        self.application = application
        self.pace = pace or Pace()
        self.pulse = Pulse()
        self.deadlines = Deadlines()
        self._units = units
        self._took = took
        self._counted = Recent[str, bool](_REMEMBERED)

    async def take(self, raw: dict[str, Any]) -> Outcome:
        """Try an update, as Telegram sent it, once. Any number may be tried at once, also the same one twice."""
        outcome = await self._take(raw)
        self._took(outcome)
        return outcome

    async def _take(self, raw: dict[str, Any]) -> Outcome:
        try:
            update = Update.de_json(raw, self.application.bot)
        except Exception as error:  # noqa: BLE001 - what the library can't read must not stop those behind it
            return await self._failed(_name(raw), UNREADABLE, json.dumps(raw), error, most=1)
        slip = await self._try(update)
        if slip.receipt is not None:
            self.pulse.beat()
            await self._forget(raw)
            return Outcome.RECEIVED
        if is_outage(slip.error):
            self.pulse.miss()
            return Outcome.NOT_YET
        return await self._failed(_name(raw), _kind(raw), json.dumps(raw), slip.error, most=self.pace.attempts)

    async def refuse(self, body: bytes, why: Unreadable, most: int = 1) -> Outcome:
        """Count what came and is no update at all; at the ``most``-th time it is set aside."""
        name = f"sha256:{hashlib.sha256(body).hexdigest()}"
        outcome = await self._failed(name, UNREADABLE, body[:LONGEST_BODY].decode(errors="replace"), why, most=most)
        self._took(outcome)
        return outcome

    async def _try(self, update: Update) -> Slip:
        slow = UpdateTookTooLong(f"update {update.update_id} took over {self.pace.update_ms} ms")
        try:
            with self.deadlines.within(self.pace.update_ms):
                return await process(self.application, update)
        except TimeoutError:
            return Slip(error=slow)
        except Exception as error:  # noqa: BLE001 - the library itself failed: no receipt, like any other failure
            return Slip(error=error)

    async def _failed(self, name: str, kind: str, body: str, error: BaseException | None, *, most: int) -> Outcome:
        """Count a failure; where that can't be done now, the update comes again."""
        failure = Failure(name, kind, type(error).__name__, body, time.time_ns() // 1_000_000)
        try:
            async with asyncio.timeout(_COUNT_MS / 1000), self._units.begin() as work:
                attempts = await work.aside.failed(failure, most)
                await work.commit()
        except Exception as broken:  # noqa: BLE001 - it is tried again, whatever it is
            self.pulse.miss()
            _note_uncounted(name, broken)
            return Outcome.NOT_YET
        if attempts < most:
            self._counted.put(name, value=True)
            return Outcome.NOT_YET
        self.pulse.beat()
        _log.error(events.UPDATE_SET_ASIDE, update=name, kind=kind, attempts=attempts, exc_info=error)
        return Outcome.SET_ASIDE

    async def _forget(self, raw: dict[str, Any]) -> None:
        """Forget the failures of an update that worked; those that other processes counted lapse by themselves."""
        if not self._counted or self._counted.pop(name := _name(raw)) is None:
            return
        try:
            async with asyncio.timeout(_COUNT_MS / 1000), self._units.begin() as work:
                await work.aside.mended(name)
                await work.commit()
        except Exception as broken:  # noqa: BLE001 - the update has its receipt; an old count lapses by itself
            _note_uncounted(name, broken)


def _note_uncounted(name: str, error: Exception) -> None:
    away = is_outage(error)
    _log.warning(events.COUNTING_FAILED, update=name, error=type(error).__name__, exc_info=None if away else error)


def _name(raw: dict[str, Any]) -> str:
    """Its number, and what tells it from others of this number: after a quiet week Telegram numbers updates anew."""
    body = json.dumps(raw, sort_keys=True).encode()
    return f"{raw['update_id']}-{hashlib.sha256(body).hexdigest()[:_DIGITS]}"


def _kind(raw: dict[str, Any]) -> str:
    """The update's kind: its one field beside its number."""
    return next((name for name in raw if name != "update_id"), UNREADABLE)


def chat_of(raw: dict[str, Any]) -> int:
    """The chat that an update as it came is of, whose updates keep their order; 0 where it is of none."""
    for content in raw.values():
        if isinstance(content, dict):
            inner = content.get("message")
            chat = content.get("chat") or (inner.get("chat") if isinstance(inner, dict) else None)
            number = chat.get("id") if isinstance(chat, dict) else None
            return number if isinstance(number, int) else 0
    return 0
