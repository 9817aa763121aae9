"""Time travel: what the server has noted down for later comes that much sooner."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from redis.asyncio import Redis

_TRAVEL: Final = Path(__file__).with_name("travel.lua").read_text()


async def travel(redis: Redis, ms: int, queue: str = "cm") -> None:
    """Let ``ms`` go by in a queue: leases, delays, holds and remembered dedup keys; nothing sleeps."""
    await redis.eval(_TRAVEL, 0, f"emq:{{{queue}}}:", ms)
