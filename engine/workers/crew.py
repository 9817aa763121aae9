"""Everything that drains, in one process: score workers, settlers, speakers and the sweep."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from typing import Final

from engine.game.chats import Chats
from engine.game.settling import Settling
from engine.game.world import World
from engine.lanes import Observer, Shift, Worker
from engine.workers.adapters import Queues
from engine.workers.loop import worker
from engine.workers.ports import Messenger, Observing, unobserved
from engine.workers.pruning import DAY_MS, Pruning
from engine.workers.scorer import ScoreWorker
from engine.workers.settler import SettleWorker
from engine.workers.speaker import SpeakWorker
from engine.workers.sweep import Sweep

_ROUNDS_A_CLAIM: Final = 16


@dataclass(frozen=True, slots=True)
class CrewSettings:
    """How a worker process works.

    Args:
        score_batch: guesses a claim.
        score_loops: batches under way at once; two let one wait for SQL while the other scores.
        say_batch: notices a claim of one chat.
        say_loops: chats spoken to at once.
        lease_ms: how long a claim lasts; it is renewed while its handler runs.
        grace_ms: how long what was taken may take to its end after a stop.
        sweep_ms: between two sweeps.
        park_ms: the longest a worker waits for work before it claims again.
        keep_said_ms: how long what was said is kept.
        keep_taken_ms: how long a command is recognised when it comes again.
    """

    score_batch: int = 200
    score_loops: int = 2
    say_batch: int = 1_000
    say_loops: int = 8
    lease_ms: int = 30_000
    grace_ms: int = 30_000
    sweep_ms: int = 5_000
    park_ms: int = 15_000
    keep_said_ms: int = 7 * DAY_MS
    keep_taken_ms: int = 2 * DAY_MS


class Crew:
    """Builds the workers on a world and runs them.

    Args:
        world: the game's ports.
        queues: the lanes.
        messenger: says notices.
        settings: how many of each, and how much at once.
        observing: who is told what befalls them.
    """

    def __init__(
        self,
        world: World,
        queues: Queues,
        messenger: Messenger,
        settings: CrewSettings | None = None,
        observing: Observing = unobserved,
    ) -> None:
        settings = settings if settings is not None else CrewSettings()
        self._sweep = Sweep(world, settings.sweep_ms, Pruning(world, settings.keep_said_ms, settings.keep_taken_ms))
        guesses, settlements, notices = (
            observing(lanes.queue, settings.lease_ms) for lanes in (queues.guesses, queues.settlements, queues.notices)
        )
        self._workers = {
            "score": _score(world, queues, settings, guesses),
            "settle": _settle(world, queues, settings, settlements),
            "speak": _speak(world, queues, messenger, settings, notices),
        }

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set; what was taken by then is finished first, if that fits into the grace."""
        async with asyncio.TaskGroup() as group:
            for each in self._workers.values():
                group.create_task(each.run(stop))
            group.create_task(self._sweep.run(stop))

    def claim_ages_ms(self) -> dict[str, int | None]:
        """How long ago each kind of worker last claimed; None where it has not yet."""
        now_ms = time.monotonic_ns() // 1_000_000
        last_ms = {name: each.last_claim_monotonic_ms for name, each in self._workers.items()}
        return {name: None if at_ms is None else now_ms - at_ms for name, at_ms in last_ms.items()}


def _score(world: World, queues: Queues, settings: CrewSettings, observer: Observer) -> Worker:
    scorer = ScoreWorker(queues.guesses, world.units, world.relay, world.clock, world.now_ms, observer=observer)
    shift = _shift(settings, batch=settings.score_batch, at_once=settings.score_loops)
    return worker("score", queues.guesses, scorer.handle, shift, observer)


def _settle(world: World, queues: Queues, settings: CrewSettings, observer: Observer) -> Worker:
    settler = SettleWorker(queues.settlements, Settling(world))
    shift = _shift(settings, batch=_ROUNDS_A_CLAIM, at_once=1)
    return worker("settle", queues.settlements, settler.handle, shift, observer)


def _speak(world: World, queues: Queues, messenger: Messenger, settings: CrewSettings, observer: Observer) -> Worker:
    speaker = SpeakWorker(queues.notices, world.units, Chats(world), messenger, world.now_ms)
    # What was said must be marked as said, lease or no lease.
    shift = replace(
        _shift(settings, batch=settings.say_batch, at_once=settings.say_loops), by_group=True, stop_lost=False
    )
    return worker("speak", queues.notices, speaker.handle, shift, observer)


def _shift(settings: CrewSettings, *, batch: int, at_once: int) -> Shift:
    """One handler gets all of a claim; what it raises is no job's fault, since it settles the jobs at fault itself."""
    return Shift(
        batch=batch,
        at_once=at_once,
        together=True,
        lease_ms=settings.lease_ms,
        grace_ms=settings.grace_ms,
        park_ms=settings.park_ms,
        outside=(Exception,),
    )
