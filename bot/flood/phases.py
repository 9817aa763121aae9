"""One pass: quiet rooms alone, then a flood beside them, then what is left, then the same load spread evenly."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

from bot.flood.plan import Plan
from bot.flood.samples import FLOODED, Clock, Guess, Look, Memory, Phase, Record

_LOOK_S: Final = 0.1
_MEMORY_S: Final = 1.0
_TOP_UP_S: Final = 0.004
_DRAIN_S: Final = 120.0
_AGAIN_S: Final = 0.5
_TURNS_S: Final = 600.0
_TOLD_S: Final = 120.0
"""A chat bears so few messages that it may be told of its last guesses a minute later."""
_DRAIN_LOOK_S: Final = 0.05


class ArenaGone(Exception):  # noqa: N818 - reads as what happened
    """A server or a process that the run stands on is gone; the message says which."""


class Arena(Protocol):
    """Where rooms play. Room 0 floods."""

    clock: Clock
    flood_room: int
    """How many guesses of the flood may be on their way at once."""

    def say(self, guess: Guess, player: int) -> None:
        """Say a guess of its room's player of that number; must not block."""

    def on_their_way(self) -> int:
        """Guesses of the flooded room that were said and not taken yet."""

    async def look(self, phase: Phase) -> Look:
        """Look at the lanes.

        Raises:
            ArenaGone: they can't be seen.
        """

    async def weigh(self, phase: Phase) -> Memory:
        """Look at the memory in use."""

    async def flood_over(self) -> bool:
        """Whether what the flooded room said is worked off."""

    async def drained(self) -> bool:
        """Whether everything that was said is taken, and nothing waits or runs any more."""

    async def told(self) -> bool:
        """Whether chats were told all that they are owed."""

    async def reckon(self, record: Record) -> None:
        """Write down what became of the guesses of ``record`` that have no fate yet."""

    async def count_turns(self, record: Record) -> None:
        """Lay a backlog of one flooded and two quiet rooms, and see by which service the quiet ones are done."""

    def alive(self) -> None:
        """See that all that this stands on runs.

        Raises:
            ArenaGone: it does not.
        """


Tell = Callable[[Phase, float, Record], None]
"""Is told about ten times a second: the phase, how much of it is done (0 to 1), and all so far."""


@dataclass(slots=True)
class Pass:
    """One pass through the phases.

    Args:
        plan: as asked for.
        arena: where.
        stop: ends it early; what was measured until then stays.
        tell: is told how it goes.
    """

    plan: Plan
    arena: Arena
    stop: asyncio.Event
    tell: Tell
    record: Record = field(default_factory=Record)
    _phase: Phase = Phase.IDLE
    _done: float = 0.0
    _flooded: int = 0
    _looked_away: str = ""

    async def play(self, *, calm: bool = True) -> Record:
        """Play every phase; without ``calm``, the flood alone and what comes after it.

        An arena that goes away or a stop ends it; ``Record.ended`` says so.
        """
        rates = dict.fromkeys(range(1, self.plan.quiet_rooms + 1), self.plan.quiet_rate)
        idle = partial(self._steady, Phase.IDLE, rates, self.plan.calm_s)
        flood, even = partial(self._flood, rates), partial(self._even, rates)
        after = partial(self._steady, Phase.AFTER, rates, self.plan.after_s)
        steps = (idle, flood, after, self._drain, even, self._drain) if calm else (flood, after, self._drain)
        try:
            async with self._looking():
                for step in steps:
                    if not self._cut:
                        await step()
                if calm and not self._cut:
                    self._phase, self._done = Phase.TURNS, 0.0
                    await self._within(_TURNS_S, self.arena.count_turns(self.record))
                    self._phase = Phase.AFTER
            if not self._cut:
                await self._within(_TOLD_S, until(self.arena.told))
        except ArenaGone as gone:
            self.record.ended = f"{gone} during {self._phase}"
        if self.stop.is_set() and not self.record.ended:
            self.record.ended = f"stopped during {self._phase}"
        self.record.clock_stepped_ms = self.arena.clock.stepped_ms
        with suppress(ArenaGone):
            await self._reckoned()
        return self.record

    async def _within(self, seconds: float, task: Coroutine[Any, Any, None]) -> None:
        """Let ``task`` run until it is done, or the time is over, or all is to stop."""
        running, stopping = asyncio.create_task(task), asyncio.create_task(self.stop.wait())
        await asyncio.wait({running, stopping}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        await ended(stopping)
        await ended(running)

    async def _flood(self, rates: dict[int, float]) -> None:
        flood = asyncio.create_task(self._say_flood(), name="flood")
        try:
            await self._steady(Phase.FLOOD, rates, self.plan.flood_s, flood)
        finally:
            await ended(flood)

    async def _say_flood(self) -> None:
        """Keep the flooded room's line full, as fast as it is taken; over once all of it is worked off."""
        while self._flooded < self.plan.flood_guesses:
            for _ in range(
                min(self.plan.flood_guesses - self._flooded, self.arena.flood_room - self.arena.on_their_way())
            ):
                self._say(FLOODED, self.arena.clock.now_ms(), self._flooded % self.plan.flood_players)
                self._flooded += 1
            await asyncio.sleep(_TOP_UP_S)
        await until(self.arena.flood_over)

    async def _even(self, rates: dict[int, float]) -> None:
        """As many a second as were scored while the flood ran, spread evenly over all rooms.

        What the flood left behind and was scored later is none of them: more than the machine can do is no even load.
        """
        record = self.record
        lasted_s = (record.over_ms[Phase.FLOOD] - record.began_ms[Phase.FLOOD]) / 1_000
        total = max(record.scored_within(Phase.FLOOD) / max(lasted_s, 0.001), len(rates) * self.plan.quiet_rate)
        await self._steady(Phase.EVEN, dict.fromkeys((FLOODED, *rates), total / (len(rates) + 1)), self.plan.calm_s)

    async def _steady(
        self, phase: Phase, rates: dict[int, float], span_s: float, flood: asyncio.Task[None] | None = None
    ) -> None:
        """Say guesses of each room at its rate for ``span_s``, or until ``flood`` is done."""
        self._phase, began_ms = phase, self.arena.clock.now_ms()
        self.record.began_ms[phase] = began_ms
        for room, player, after_s in _schedule(rates, self.plan.players):
            due_ms = began_ms + after_s * 1_000
            await self._wait_for(due_ms, flood)
            self._done = min(1.0, after_s / span_s)
            if after_s > span_s or self._over(flood):
                break
            self._say(room, due_ms, player)
            await asyncio.sleep(0)
        self.record.over_ms[phase] = self.arena.clock.now_ms()
        if self._looked_away:
            raise ArenaGone(self._looked_away)

    async def _wait_for(self, due_ms: float, flood: asyncio.Task[None] | None) -> None:
        while (wait_ms := due_ms - self.arena.clock.now_ms()) > 0 and not self._over(flood):  # noqa: ASYNC110 - a clock
            await asyncio.sleep(min(wait_ms / 1_000, _LOOK_S))

    @property
    def _cut(self) -> bool:
        return self.stop.is_set() or bool(self._looked_away)

    def _over(self, flood: asyncio.Task[None] | None) -> bool:
        return self._cut or (flood is not None and flood.done())

    def _say(self, room: int, due_ms: float, player: int) -> None:
        guess = Guess(room, self._phase, due_ms)
        self.record.guesses.append(guess)
        self.arena.say(guess, player)

    async def _drain(self) -> None:
        """Let everything that was said be worked off; then know what became of it, in case a server goes later."""
        self._phase, self._done = Phase.AFTER, 0.0
        began_ms = self.arena.clock.now_ms()
        while not await self.arena.drained():
            if self._looked_away:
                raise ArenaGone(self._looked_away)
            if self.stop.is_set() or self.arena.clock.now_ms() - began_ms > _DRAIN_S * 1_000:
                break
            await asyncio.sleep(_DRAIN_LOOK_S)
        await self._reckoned()

    async def _reckoned(self) -> None:
        await self.arena.reckon(self.record)

    @asynccontextmanager
    async def _looking(self) -> AsyncIterator[None]:
        watching = asyncio.create_task(self._watch(), name="looking")
        try:
            yield
        finally:
            await ended(watching)

    async def _watch(self) -> None:
        weighed_ms = 0.0
        try:
            while True:
                self.arena.alive()
                self.arena.clock.notice()
                self.record.looks.append(await self.arena.look(self._phase))
                if self.arena.clock.now_ms() - weighed_ms >= _MEMORY_S * 1_000:
                    weighed_ms = self.arena.clock.now_ms()
                    self.record.memory.append(await self.arena.weigh(self._phase))
                self.tell(self._phase, self._done, self.record)
                await asyncio.sleep(_LOOK_S)
        except ArenaGone as gone:
            self._looked_away = str(gone)


async def ended(task: asyncio.Task[Any]) -> None:
    """End ``task``, and raise what it raised.

    Whoever waits for a server may lose a cancellation that comes just as its answer does: so it is said again.
    """
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=_AGAIN_S)
    if not task.cancelled():
        task.result()


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Return once it holds; whoever waits says for how long."""
    while not await holds():  # noqa: ASYNC110 - other processes set no event of ours
        await asyncio.sleep(_DRAIN_LOOK_S)


def _schedule(rates: dict[int, float], players: int) -> Iterator[tuple[int, int, float]]:
    """Who says something when: room, player, and seconds from the beginning; rooms are spread over their interval."""
    turns = [(number / len(rates) / rate, room, 0) for number, (room, rate) in enumerate(rates.items())]
    heapq.heapify(turns)
    while turns:
        at_s, room, said = turns[0]
        yield room, said % players, at_s
        heapq.heapreplace(turns, (at_s + 1 / rates[room], room, said + 1))
