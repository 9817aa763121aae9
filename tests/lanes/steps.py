"""Steps that many lanes tests take."""

from __future__ import annotations

from collections.abc import Iterable

from redis.asyncio import Redis

from engine.lanes import Job, Lanes, Submission
from tests.lanes.naming import new_jobs
from tests.waiting import wait_until


async def server_ms(redis: Redis) -> int:
    """The server's clock."""
    seconds, microseconds = await redis.time()
    return int(seconds) * 1000 + int(microseconds) // 1000


async def past(redis: Redis, ms: int) -> None:
    """Return once the server's clock is beyond ``ms``."""

    async def passed() -> bool:
        return await server_ms(redis) > ms

    await wait_until(passed, f"the server's clock has passed {ms}", poll_ms=1)


async def lapse(redis: Redis, jobs: Iterable[Job]) -> None:
    """Return once the leases of ``jobs`` (short ones) are over."""
    await past(redis, max((job.lease_until_ms for job in jobs), default=0))


async def claimed_ids(lanes: Lanes, count: int) -> list[str]:
    """Claim up to ``count`` jobs at once and name them."""
    return [job.id for job in await lanes.claim(count)]


async def fill(lanes: Lanes, group: str, count: int = 1, lane: str | None = None) -> list[str]:
    """Admit ``count`` new jobs and name them in order."""
    admitted = new_jobs(count)
    await lanes.enqueue_many([Submission(group, job_id, b"", lane=lane) for job_id in admitted])
    return admitted


async def settle_all(lanes: Lanes, batch: int = 100) -> list[Job]:
    """Claim and complete until nothing is left."""
    done: list[Job] = []
    while jobs := await lanes.claim(batch):
        done += jobs
        await lanes.complete(jobs)
    return done
