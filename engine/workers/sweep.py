"""Finds what nobody woke for: rounds past their time, notices that never reached a lane, levers a Redis forgot."""

from __future__ import annotations

import asyncio
from typing import Final

import structlog
from redis.exceptions import RedisError

from engine.game.clock import is_astray
from engine.game.settling import Settling
from engine.game.world import World
from engine.ids import NoticeId
from engine.store.errors import StoreUnavailable
from engine.workers import events
from engine.workers.pruning import Pruning
from engine.workers.stopping import pause_unless

_NOTICES_AT_ONCE: Final = 1_000

_log = structlog.get_logger(__name__)


class Sweep:
    """Looks every ``every_ms``; its first look takes everything, as after a crash.

    Any number of processes may sweep: what they find twice is a duplicate to the lanes.

    Args:
        world: where to look.
        every_ms: how often.
        pruning: deletes what nobody needs any more, a bounded part of it at each look.
    """

    def __init__(self, world: World, every_ms: int, pruning: Pruning | None = None) -> None:
        self._world = world
        self._every_ms = every_ms
        self._pruning = pruning
        self._told: str | None = None
        self._after: NoticeId | None = None

    async def run(self, stop: asyncio.Event) -> None:
        """Sweep until ``stop`` is set."""
        grace_ms = 0
        while not stop.is_set():
            try:
                await self.once(grace_ms)
                grace_ms = self._every_ms
                if self._pruning is not None:
                    await self._pruning.once()
            except (RedisError, OSError, StoreUnavailable) as error:
                _log.warning(events.LOOP_FAILED, loop="sweep", error=type(error).__name__)
            except Exception:  # noqa: BLE001 - the sweep outlives its own bugs
                _log.exception(events.LOOP_FAILED, loop="sweep")
            await pause_unless(stop, self._every_ms / 1_000)

    async def once(self, grace_ms: int) -> None:
        """Sweep once.

        Args:
            grace_ms: notices younger than this are left to whoever wrote them. 0 takes all there are, page by page;
                otherwise each sweep takes one page.
        """
        memory = await self._world.lanes.memory()
        if memory != self._told:
            await self._tell_levers()
            self._told = memory
            # It may have lost notices as well, however old: all of them are looked at, as at the start.
            self._after, everything = None, True
        else:
            everything = grace_ms == 0
        now_ms = self._world.now_ms()
        async with self._world.units.read() as work:
            rounds = await work.rounds.unsettled(now_ms)
        for round_ in rounds:
            if is_astray(round_, now_ms):
                await Settling(self._world).set_right(round_)
                continue
            # Not as the deadline's job: that one may live, and be due at an hour that a stepped clock left behind.
            await self._world.clock.settle(round_.room, round_.id)
        handed = await self._hand_over_a_page(now_ms - grace_ms)
        while self._after is not None and everything:
            handed += await self._hand_over_a_page(now_ms - grace_ms)
        if rounds or handed:
            _log.info(events.SWEPT, rounds=len(rounds), notices=handed)

    async def _hand_over_a_page(self, created_before_ms: int) -> int:
        """Hand over the page behind the last one, so that a chat with many unsent notices hides nobody else's."""
        async with self._world.units.read() as work:
            notices = await work.outbox.unsent(_NOTICES_AT_ONCE, created_before_ms, self._after)
        if notices:
            await self._world.relay.hand_over(notices)
        self._after = notices[-1][0] if len(notices) == _NOTICES_AT_ONCE else None
        return len(notices)

    async def _tell_levers(self) -> None:
        async with self._world.units.read() as work:
            rooms = await work.rooms.pulled()
        await self._world.bring_switches()
        await self._world.bring([room.id for room in rooms])
        await self._world.lanes.remember()
