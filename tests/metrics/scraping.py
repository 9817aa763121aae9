"""Scraping as Prometheus does it: over HTTP, and read with its client's own parser."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_families
from prometheus_client.parser import text_string_to_metric_families as plain_families
from redis.asyncio import Redis
from starlette.routing import Router

from bot.metrics import Meters, MetricsPage, Readings
from bot.web.server import listening
from engine.workers.adapters import Queues

OPEN = "application/openmetrics-text; version=1.0.0"


@dataclass(frozen=True)
class Scrape:
    """What one scrape told."""

    families: list[Metric]
    text: str

    def of(self, name: str, **labels: str) -> float | None:
        """The value of one series; None where there is none."""
        found = [value for its, value in self.series(name) if labels.items() <= its.items()]
        assert len(found) < 2, f"{name} {labels} is {len(found)} series"
        return found[0] if found else None

    def series(self, name: str) -> list[tuple[dict[str, str], float]]:
        """Every series of one name."""
        samples = [sample for family in self.families for sample in family.samples]
        return [(dict(sample.labels), sample.value) for sample in samples if sample.name == name]

    def groups(self, name: str, queue: str = "cm") -> dict[str, float]:
        """A queue's series of one name, by their groups."""
        return {labels["group"]: value for labels, value in self.series(name) if labels["queue"] == queue}

    @property
    def names(self) -> set[str]:
        """The name of every series."""
        return {sample.name for family in self.families for sample in family.samples}

    @property
    def count(self) -> int:
        """How many series there are, less those of the process itself."""
        return sum(len(family.samples) for family in self.families if not family.name.startswith("process_"))


async def scrape(client: httpx.AsyncClient, accept: str = "text/plain") -> Scrape:
    """One scrape; it must be answered 200."""
    answer = await client.get("/metrics", headers={"accept": accept})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith(accept.partition(";")[0])
    parse = open_families if accept is OPEN else plain_families
    return Scrape(list(parse(answer.text)), answer.text)


@asynccontextmanager
async def page_on(
    redis: Redis, meters: Meters, *, fresh_ms: int = 0, answer_ms: int = 5_000
) -> AsyncIterator[httpx.AsyncClient]:
    """The page of a process on ``redis``; each scrape reads anew, unless ``fresh_ms`` says otherwise."""
    queues = Queues.on(redis)
    those = (queues.guesses, queues.settlements, queues.notices)
    readings = Readings(those, fresh_ms=fresh_ms, answer_ms=answer_ms)
    page = MetricsPage(meters.registry, meters.queues, readings)
    async with (
        listening("127.0.0.1:0", Router([page.route()])) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as client,
    ):
        yield client
    await readings.end()
