"""dramatiq at a Redis or Valkey server, with no middleware: as little as it can do."""

from __future__ import annotations

from collections.abc import Callable

import dramatiq
from dramatiq.brokers.redis import RedisBroker


def broker_at(url: str) -> RedisBroker:
    """A broker."""
    broker = RedisBroker(url=url, middleware=[])  # type: ignore[no-untyped-call]  # its __init__ has no annotations
    dramatiq.set_broker(broker)
    return broker


def sender(broker: RedisBroker, work: Callable[[str], None]) -> Callable[[str], object]:
    """What hands in one job of ``work``."""
    return dramatiq.actor(broker=broker, actor_name="work")(work).send
