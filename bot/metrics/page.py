"""``/metrics``: what this process counts and what it reads of the queues, in Prometheus' own format.

It is answered 200 also where Redis is away: then the process's own counts are there, and ``codemojex_queue_up`` is 0.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.metrics.queues import QueueMeter
from bot.metrics.reading import Readings
from bot.web.places import METRICS


class MetricsPage:
    """Answers scrapes.

    Args:
        registry: what is shown.
        queues: shows the readings.
        readings: are brought up to date first.
    """

    def __init__(self, registry: CollectorRegistry, queues: QueueMeter, readings: Readings) -> None:
        self._registry = registry
        self._queues = queues
        self._readings = readings

    async def answer(self, request: Request) -> Response:
        """Answer one scrape."""
        self._queues.show(await self._readings.look())
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(self._registry), headers={"content-type": content_type, "cache-control": "no-store"})

    def route(self) -> Route:
        """The page, over HTTP."""
        return Route(METRICS, self.answer)
