"""Waiting that a stop ends early.

Background tasks here end by an event, not by ``cancel``: Python 3.11's ``wait_for``, through which redis-py sends,
forgets a cancellation that comes as the sending ends, and the task would go on for ever.
"""

from __future__ import annotations

import asyncio
import contextlib


async def pause_unless(stop: asyncio.Event, seconds: float) -> bool:
    """Wait ``seconds``, or until ``stop``; True where it was the stop."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()
    return stop.is_set()
