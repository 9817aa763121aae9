"""Everything that drains, in one process: score workers, settlers, speakers and the sweep."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from engine.game.settling import Settling
from engine.game.world import World
from engine.workers.adapters import Queues
from engine.workers.loop import Loop
from engine.workers.ports import Messenger
from engine.workers.scorer import ScoreWorker
from engine.workers.settler import SettleWorker
from engine.workers.speaker import SpeakWorker
from engine.workers.sweep import Sweep


@dataclass(frozen=True, slots=True)
class CrewSettings:
    """How a worker process works.

    Args:
        score_batch: guesses a claim.
        score_loops: claims under way at once; two let one wait for SQL while the other scores.
        say_batch: notices a claim of one chat.
        say_loops: chats spoken to at once.
        lease_ms: how long a claim lasts.
        sweep_ms: between two sweeps.
    """

    score_batch: int = 200
    score_loops: int = 2
    say_batch: int = 50
    say_loops: int = 8
    lease_ms: int = 30_000
    sweep_ms: int = 5_000


class Crew:
    """Builds the loops on a world and runs them.

    Args:
        world: the game's ports.
        queues: the lanes.
        messenger: says notices.
        settings: how many of each, and how much at once.
    """

    def __init__(
        self, world: World, queues: Queues, messenger: Messenger, settings: CrewSettings | None = None
    ) -> None:
        settings = settings if settings is not None else CrewSettings()
        self._sweep = Sweep(world, settings.sweep_ms)
        self._loops = [
            *_score_loops(world, queues, settings),
            _settle_loop(world, queues, settings),
            *_speak_loops(world, queues, messenger, settings),
        ]

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set; what was taken by then is finished first."""
        async with asyncio.TaskGroup() as group:
            for loop in self._loops:
                group.create_task(loop.run(stop))
            group.create_task(self._sweep.run(stop))


def _score_loops(world: World, queues: Queues, settings: CrewSettings) -> list[Loop]:
    lanes = queues.guesses
    worker = ScoreWorker(lanes, world.units, world.relay, world.clock, world.now_ms)
    return [
        Loop("score", lanes, lambda: lanes.claim(settings.score_batch, settings.lease_ms), worker.handle)
        for _ in range(settings.score_loops)
    ]


def _settle_loop(world: World, queues: Queues, settings: CrewSettings) -> Loop:
    lanes = queues.settlements
    worker = SettleWorker(lanes, Settling(world))
    return Loop("settle", lanes, lambda: lanes.claim(16, settings.lease_ms), worker.handle)


def _speak_loops(world: World, queues: Queues, messenger: Messenger, settings: CrewSettings) -> list[Loop]:
    lanes = queues.notices
    worker = SpeakWorker(lanes, world.units, messenger, world.now_ms, settings.lease_ms)
    return [
        Loop("speak", lanes, lambda: lanes.claim_group(settings.say_batch, settings.lease_ms), worker.handle)
        for _ in range(settings.say_loops)
    ]
