"""All that one process counts, and the registry that shows it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from bot.metrics.instruments import Meter
from bot.metrics.intake import GameMeter, PostMeter, UpdateMeter
from bot.metrics.queues import QueueMeter
from bot.metrics.telegram import TelegramMeter
from bot.metrics.working import WorkMeter


class _Shown(Collector):
    """Meters, as the library asks for them."""

    def __init__(self, *meters: Meter) -> None:
        self._meters = meters

    def describe(self) -> list[Metric]:
        """Nothing: what is shown is known when it is asked for."""
        return []

    def collect(self) -> Iterator[Metric]:
        """All series, as of now."""
        for meter in self._meters:
            yield from meter.families()


class Meters:
    """What one process counts. It belongs to the process, never to the module: two in one interpreter never meet.

    Attributes:
        game: is told of guesses and refusals.
        updates: is told of updates.
        posts: of the webhook.
        telegram: of calls, the budget and messages.
        work: of workers.
        queues: shows what was read.
        registry: all of it.
    """

    def __init__(self) -> None:
        self.game = GameMeter()
        self.updates = UpdateMeter()
        self.posts = PostMeter()
        self.telegram = TelegramMeter()
        self.work = WorkMeter()
        self.queues = QueueMeter(self.work.lately)
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.registry.register(
            _Shown(_About(), self.game, self.updates, self.posts, self.telegram, self.work, self.queues)
        )


class _About:
    """Which program this is."""

    def families(self) -> Iterator[Metric]:
        """See `Meter`."""
        yield InfoMetricFamily("codemojex", "The program.", {"version": version("codemojex")})
