"""Time travel: what the server has noted down for later comes that much sooner."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

from redis.asyncio import Redis

_TRAVEL: Final = Path(__file__).with_name("travel.lua").read_text()


async def travel(redis: Redis, ms: int, queue: str = "cm") -> None:
    """Let ``ms`` go by in a queue: leases, delays, holds and remembered dedup keys; nothing sleeps.

    With a million of them it takes longer than a client waits for an answer.
    """
    pool: Any = redis.connection_pool  # redis-py leaves its pools' methods untyped
    connection = await pool.get_connection()
    try:
        await connection.send_command("EVAL", _TRAVEL, 0, f"emq:{{{queue}}}:", ms)
        await connection.read_response(timeout=math.inf)
    finally:
        await pool.release(connection)
