"""The cap of a group against every way in at the same instant."""

from __future__ import annotations

import asyncio

import pytest

from engine.lanes import Admission, Job, Lanes, QueueFull, Submission
from tests.lanes.naming import A, B, new_job
from tests.lanes.sizes import scaled
from tests.lanes.steps import fill, settle_all
from tests.lanes.travelling import travel
from tests.lanes.watching import WatchedRedis

PRODUCERS = 64
CAP = 40
HOUR_MS = 3_600_000
COUNTED = ("enqueue", "enqueue_many", "delayed", "reassign", "redrive")
"""Ways in that a cap binds; what comes back by `retry`, `reap` or `promote` was in already, and is never refused."""


async def enter(lanes: Lanes, way: str, spare: dict[str, list[str]]) -> int:
    """Try to bring one job into A, and answer how many it brought."""
    match way:
        case "enqueue" | "delayed":
            try:
                await lanes.enqueue(A, new_job(), b"", delay_ms=HOUR_MS if way == "delayed" else 0)
            except QueueFull:
                return 0
            return 1
        case "enqueue_many":
            jobs = [Submission(A, new_job(), b"") for _ in range(3)]
            return (await lanes.enqueue_many(jobs)).count(Admission.enqueued)
        case "reassign":
            return int(await lanes.reassign(spare["elsewhere"].pop(), A) == "reassigned")
        case _:
            return await lanes.redrive(job_id=spare["dead"].pop())


async def come_back(lanes: Lanes, job: Job, number: int) -> int:
    """Give a leased job of A back."""
    if number % 2:
        assert await lanes.retry(job, "broken", 0) == "ok"
    else:
        assert await lanes.release([job]) == ["ok"]
    return 1


@pytest.mark.case("L19")
@pytest.mark.parametrize("attempt", range(scaled(3, 100)))
async def test_every_way_in_at_once_fills_a_group_to_its_cap_and_what_comes_back_comes_on_top(
    redis: WatchedRedis, attempt: int
) -> None:
    lanes = Lanes(redis, "cm", max_attempts=None)
    spare = {"dead": await fill(lanes, A, PRODUCERS), "elsewhere": []}
    with redis.unwatched():
        impatient = Lanes(redis, "cm", max_attempts=1)
        await asyncio.gather(*(impatient.retry(job, "broken") for job in await lanes.claim(PRODUCERS)))
        spare["elsewhere"] = await fill(lanes, B, PRODUCERS)
        await lanes.enqueue_many([Submission(A, new_job(), b"", delay_ms=HOUR_MS) for _ in range(5)])
        await lanes.pause(B)
        await fill(lanes, A, 10)
        leased = await lanes.claim(10, HOUR_MS)
        await fill(lanes, A, CAP - 6)
        await travel(redis, HOUR_MS)  # five are due, and the leases have lapsed
        await lanes.extend(leased[:6], HOUR_MS)
        await lanes.cap(A, depth=CAP)
        assert await lanes.depth(A) == CAP - 1
        ways = [enter(lanes, COUNTED[number % len(COUNTED)], spare) for number in range(PRODUCERS)]
        back = [come_back(lanes, job, number) for number, job in enumerate(leased[:6])]
        work = [*ways, *back]
        turned = work[attempt % len(work) :] + work[: attempt % len(work)]
        reaping, promoting, *brought = await asyncio.gather(lanes.reap(), lanes.promote(), *turned)
        assert (reaping, promoting) == (4, 5)
        came_in = sum(brought) - len(back)
        # Whoever came first may have met room for one, or the cap passed by what came back already.
        assert came_in <= 1
        assert await lanes.depth(A) == CAP - 1 + came_in + len(back) + reaping
        with pytest.raises(QueueFull):
            await lanes.enqueue(A, new_job(), b"")
        await lanes.cap(A)
        await travel(redis, HOUR_MS)
        await lanes.promote(1_000)
        await lanes.drain(B)
        await settle_all(lanes)
        assert await lanes.depth(A) == 0
