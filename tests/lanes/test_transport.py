"""How scripts reach the server: never the same call twice, and again where the server says that it ran nothing."""

from __future__ import annotations

import asyncio

import pytest
from redis.asyncio import Redis
from redis.exceptions import ReadOnlyError

from engine.lanes import BadArgument, Lanes, Submission
from engine.lanes.admission import PORTION
from tests.lanes.naming import A, new_job, new_jobs
from tests.lanes.steps import claimed_ids, fill
from tests.lanes.watching import WatchedRedis


@pytest.mark.case("L22")
async def test_a_pipeline_of_scripts_outlives_a_flush(lanes: Lanes, redis: WatchedRedis) -> None:
    jobs = new_jobs(3 * PORTION + 1)
    with redis.unwatched():
        await redis.script_flush()
        answers = await lanes.enqueue_many([Submission(A, job_id, b"") for job_id in jobs])
        assert answers == ["enqueued"] * len(jobs)
        await redis.script_flush()
        claimed = await lanes.claim(10_000)
        assert [job.id for job in claimed] == jobs
        await redis.script_flush()
        assert set(await lanes.complete(claimed)) == {"ok"}


async def test_a_server_that_is_a_replica_for_a_while_is_asked_again(lanes: Lanes, redis: WatchedRedis) -> None:
    """As after a failover that is undone, or one that the client's name for the server follows."""
    await fill(lanes, A, 1)
    with redis.unwatched():
        await redis.replicaof("127.0.0.1", "1")
        late = new_job()
        asking = asyncio.create_task(lanes.enqueue(A, late, b""))
        waiting = asyncio.create_task(lanes.wait(10))
        done, _ = await asyncio.wait([asking], timeout=0.05)
        assert not done
        await redis.replicaof("NO", "ONE")
        assert await asking == "enqueued"
        await waiting
    assert late in await claimed_ids(lanes, 9)


async def test_a_server_that_stays_a_replica_is_an_error_in_the_end(lanes: Lanes, redis: WatchedRedis) -> None:
    with redis.unwatched():
        await redis.replicaof("127.0.0.1", "1")
        try:
            with pytest.raises(ReadOnlyError):
                await asyncio.wait_for(lanes.enqueue(A, new_job(), b""), 10)
        finally:
            await redis.replicaof("NO", "ONE")


async def test_a_client_that_decodes_is_refused(redis_url: str) -> None:
    async with Redis.from_url(redis_url, decode_responses=True) as client:
        with pytest.raises(BadArgument, match="decode_responses"):
            Lanes(client, "cm")
