"""cap: how many jobs of a group or a lane may wait; refused on every way in, never on a way back."""

from __future__ import annotations

import asyncio
import time

import pytest
from redis.asyncio import Redis

from engine.lanes import Admission, BadArgument, Lanes, QueueFull, Reassignment, Submission, Verdict
from tests.lanes.naming import ANA, BEN, A, B, C, new_job, new_jobs
from tests.lanes.oracle import Oracle
from tests.lanes.steps import fill, lapse, past, server_ms, settle_all
from tests.lanes.watching import WatchedRedis
from tests.waiting import wait_until


async def admissions(lanes: Lanes, group: str, count: int, lane: str | None = None) -> list[Admission]:
    return await lanes.enqueue_many([Submission(group, job_id, b"", lane=lane) for job_id in new_jobs(count)])


async def test_an_admission_past_the_cap_is_refused_and_changes_nothing(lanes: Lanes, oracle: Oracle) -> None:
    await lanes.cap(A, depth=2)
    await fill(lanes, A, 2)
    before = await oracle.raw()
    refused = new_job()
    with pytest.raises(QueueFull) as full:
        await lanes.enqueue(A, refused, b"", dedup="message")
    assert (full.value.depth, full.value.cap) == (2, 2)
    assert full.value.eta_ms > 0
    assert await lanes.job(refused) is None
    assert await oracle.raw() == before
    await lanes.cap(A)
    assert await lanes.enqueue(A, refused, b"", dedup="message") is Admission.enqueued


async def test_in_bulk_a_full_group_answers_full_and_hinders_nobody(lanes: Lanes) -> None:
    await lanes.cap(A, depth=2)
    answers = await lanes.enqueue_many([Submission(group, new_job(), b"") for group in (A, B, A, A, B, A)])
    assert answers == ["enqueued", "enqueued", "enqueued", "full", "enqueued", "full"]
    assert (await lanes.depth(A), await lanes.depth(B)) == (2, 2)


async def test_a_lane_has_a_cap_of_its_own(lanes: Lanes) -> None:
    await lanes.cap(A, lane_depth=2)
    assert await admissions(lanes, A, 3, lane=ANA) == ["enqueued", "enqueued", "full"]
    assert await admissions(lanes, A, 3, lane=BEN) == ["enqueued", "enqueued", "full"]
    assert await admissions(lanes, A, 3) == ["enqueued", "enqueued", "full"]
    with pytest.raises(QueueFull) as full:
        await lanes.enqueue(A, new_job(), b"", lane=ANA)
    assert (full.value.depth, full.value.cap) == (2, 2)


async def test_either_cap_refuses(lanes: Lanes) -> None:
    await lanes.cap(A, depth=3, lane_depth=2)
    assert await admissions(lanes, A, 3, lane=ANA) == ["enqueued", "enqueued", "full"]
    assert await admissions(lanes, A, 2, lane=BEN) == ["enqueued", "full"]
    with pytest.raises(QueueFull) as full:
        await lanes.enqueue(A, new_job(), b"", lane=BEN)
    assert (full.value.depth, full.value.cap) == (3, 3)


async def test_a_cap_set_again_replaces_both_numbers(lanes: Lanes) -> None:
    await lanes.cap(A, depth=1, lane_depth=1)
    await lanes.cap(A, lane_depth=2)
    assert await admissions(lanes, A, 3) == ["enqueued", "enqueued", "full"]
    await lanes.cap(A)
    assert await admissions(lanes, A, 3) == ["enqueued"] * 3


async def test_a_cap_below_what_waits_keeps_it_and_refuses_more(lanes: Lanes) -> None:
    admitted = await fill(lanes, A, 5)
    await lanes.cap(A, depth=2)
    assert await admissions(lanes, A, 1) == ["full"]
    assert [job.id for job in await lanes.claim(9)] == admitted
    assert await admissions(lanes, A, 3) == ["enqueued", "enqueued", "full"]


@pytest.mark.case("L19")
async def test_a_job_in_flight_takes_no_room(lanes: Lanes) -> None:
    await lanes.cap(A, depth=1)
    await fill(lanes, A, 1)
    await lanes.claim()
    assert await admissions(lanes, A, 2) == ["enqueued", "full"]


@pytest.mark.case("L19")
async def test_a_delayed_job_counts_from_its_admission(lanes: Lanes, redis: Redis) -> None:
    await lanes.cap(A, depth=2, lane_depth=1)
    assert await lanes.enqueue(A, new_job(), b"", lane=ANA, delay_ms=20) is Admission.scheduled
    assert await admissions(lanes, A, 1, lane=ANA) == ["full"]
    assert await admissions(lanes, A, 2, lane=BEN) == ["enqueued", "full"]
    with pytest.raises(QueueFull):
        await lanes.enqueue(A, new_job(), b"", delay_ms=20)
    await past(redis, await server_ms(redis) + 20)
    assert await lanes.promote() == 1
    assert await lanes.depth(A) == 2
    assert await admissions(lanes, A, 1, lane=ANA) == ["full"]
    assert len(await settle_all(lanes)) == 2
    assert await admissions(lanes, A, 2, lane=ANA) == ["enqueued", "full"]


@pytest.mark.case("L19")
@pytest.mark.parametrize("way", ["retry", "retry later", "release", "reap"])
async def test_what_comes_back_is_never_refused(lanes: Lanes, redis: Redis, way: str) -> None:
    await lanes.cap(A, depth=1, lane_depth=1)
    await fill(lanes, A, 1)
    jobs = await lanes.claim(lease_ms=1 if way == "reap" else 60_000)
    await fill(lanes, A, 1)
    if way == "reap":
        await lapse(redis, jobs)
        assert await lanes.reap() == 1
    elif way == "release":
        assert await lanes.release(jobs) == [Verdict.ok]
    else:
        assert await lanes.retry(jobs[0], "broken", 0 if way == "retry" else 3_600_000) is Verdict.ok
    assert await lanes.depth(A) == 2
    assert await admissions(lanes, A, 1) == ["full"]


@pytest.mark.case("L19")
async def test_a_job_moved_in_is_refused_by_either_cap(lanes: Lanes) -> None:
    await lanes.cap(A, depth=2, lane_depth=1)
    first, second, third = await fill(lanes, B, 3)
    assert await lanes.reassign(first, A, ANA) is Reassignment.reassigned
    assert await lanes.reassign(second, A, ANA) is Reassignment.full
    assert await lanes.reassign(second, A, BEN) is Reassignment.reassigned
    assert await lanes.reassign(third, A) is Reassignment.full
    assert await lanes.reassign(second, A, ANA) is Reassignment.full
    assert await lanes.reassign(second, A) is Reassignment.reassigned  # the depth of its group stays


@pytest.mark.case("L19")
async def test_a_redriven_job_that_finds_no_room_stays_dead(redis: WatchedRedis) -> None:
    lanes = Lanes(redis, "cm", max_attempts=1)
    await fill(lanes, A, 3)
    for job in await lanes.claim(3):
        assert await lanes.retry(job, "broken") is Verdict.dead
    await lanes.cap(A, depth=2)
    assert await lanes.redrive() == 2
    assert await lanes.redrive() == 0
    assert await lanes.depth(A) == 2
    await settle_all(lanes)
    assert await lanes.redrive(A) == 1


@pytest.mark.case("L19")
async def test_a_duplicate_is_no_second_job_and_a_full_group_still_knows_it(lanes: Lanes) -> None:
    await lanes.cap(A, depth=2)
    first = new_job()
    again = Submission(A, first, b"", dedup="message")
    assert await lanes.enqueue_many([again] * 5) == ["enqueued"] + ["duplicate"] * 4
    assert await lanes.depth(A) == 1
    await fill(lanes, A, 1)
    assert await lanes.enqueue(A, first, b"") is Admission.duplicate
    assert await lanes.enqueue(A, new_job(), b"", dedup="message") is Admission.duplicate


@pytest.mark.case("L19")
async def test_many_producers_at_once_fill_a_group_to_its_cap_exactly(lanes: Lanes, redis: WatchedRedis) -> None:
    await lanes.cap(A, depth=40)
    await fill(lanes, A, 39)

    async def produce(number: int) -> str:
        try:
            if number % 2:
                return (await lanes.enqueue_many([Submission(A, new_job(), b"")]))[0]
            return await lanes.enqueue(A, new_job(), b"")
        except QueueFull:
            return Admission.full

    with redis.unwatched():
        answers = await asyncio.gather(*(produce(number) for number in range(64)))
    assert sorted(answers) == ["enqueued"] + ["full"] * 63
    assert await lanes.depth(A) == 40


@pytest.mark.parametrize("bad", [0, -1, True, 1.5, "3", 1 << 40])
async def test_an_absurd_cap_is_refused_before_anything_is_sent(lanes: Lanes, oracle: Oracle, bad: object) -> None:
    with pytest.raises(BadArgument, match="depth"):
        await lanes.cap(A, depth=bad)  # type: ignore[arg-type]  # what is under test
    with pytest.raises(BadArgument, match="lane_depth"):
        await lanes.cap(A, lane_depth=bad)  # type: ignore[arg-type]  # what is under test
    assert await oracle.raw() == []


class Service:
    """Serves a queue at a steady pace, by the wall clock: whoever falls behind catches up."""

    def __init__(self, lanes: Lanes, per_s: int) -> None:
        self._lanes = lanes
        self._per_s = per_s
        self._began_s = time.monotonic()
        self._served = 0

    async def run(self) -> None:
        while True:
            due = int((time.monotonic() - self._began_s) * self._per_s) - self._served
            if due > 0:
                jobs = await self._lanes.claim(due)
                await self._lanes.complete(jobs)
                self._served += due
            await asyncio.sleep(0.002)


async def refusal(lanes: Lanes, group: str) -> QueueFull:
    """Fill the group to its cap, and answer what it is refused with then."""
    while True:
        try:
            await lanes.enqueue(group, new_job(), b"")
        except QueueFull as full:
            return full


async def drained_ms(lanes: Lanes, group: str) -> float:
    """How long it takes until the group has served what waits now."""
    began_s = time.monotonic()
    last = (await lanes.browse(group, 1000))[-1].seq

    async def gone() -> bool:
        oldest = await lanes.oldest(group)
        return oldest is None or oldest > last

    await wait_until(gone, "all that waited is served", poll_ms=5)
    return (time.monotonic() - began_s) * 1000


async def test_under_steady_load_the_eta_is_close_to_what_then_happens(lanes: Lanes, redis: WatchedRedis) -> None:
    """The group is kept at its cap while it is served; then it is left to drain."""
    with redis.unwatched():
        await lanes.cap(A, depth=150)
        await fill(lanes, A, 150)
        serving = asyncio.create_task(Service(lanes, 200).run())
        full = await refusal(lanes, A)
        until_s = time.monotonic() + 1
        while time.monotonic() < until_s:
            await asyncio.sleep(0.02)
            full = await refusal(lanes, A)
        took_ms = await drained_ms(lanes, A)
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
    assert took_ms == pytest.approx(full.eta_ms, rel=0.3)


async def test_a_group_not_served_yet_reckons_with_its_share_of_the_queues_pace(
    lanes: Lanes, redis: WatchedRedis
) -> None:
    """B is served for a second; then C, of weight 3, comes in beside it and gets three quarters."""
    with redis.unwatched():
        await fill(lanes, B, 1000)
        serving = asyncio.create_task(Service(lanes, 300).run())
        await asyncio.sleep(1)
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        await lanes.weight(C, 3)
        await lanes.cap(C, depth=90)
        # In one call: until C is refused nobody is served, which a pace counts.
        await lanes.enqueue_many([Submission(C, new_job(), b"") for _ in range(90)])
        full = await refusal(lanes, C)
    assert full.eta_ms == pytest.approx(90 / (300 * 3 / 4) * 1000, rel=0.3)


async def test_the_eta_of_a_lane_reckons_with_the_turns_of_the_others(lanes: Lanes, redis: WatchedRedis) -> None:
    with redis.unwatched():
        await fill(lanes, B, 1000)
        serving = asyncio.create_task(Service(lanes, 300).run())
        await asyncio.sleep(1)
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        await lanes.drain(B)
        await lanes.cap(A, lane_depth=30)
        await lanes.enqueue_many([Submission(A, new_job(), b"", lane=lane) for lane in [ANA, BEN] * 30])
        with pytest.raises(QueueFull) as full:
            await lanes.enqueue(A, new_job(), b"", lane=ANA)
    assert full.value.eta_ms == pytest.approx(60 / 300 * 1000, rel=0.3)


async def test_a_queue_that_never_served_still_tells_some_eta(lanes: Lanes) -> None:
    await lanes.cap(A, depth=3)
    assert (await refusal(lanes, A)).eta_ms == 3_000


async def test_a_pace_goes_with_the_backlog_and_with_the_cap(lanes: Lanes, oracle: Oracle) -> None:
    await lanes.cap(A, depth=2)
    await refusal(lanes, A)
    assert (await oracle.look()).gflow
    await lanes.complete(await lanes.claim(2))
    assert (await oracle.look()).gflow == {}
    await refusal(lanes, A)
    await lanes.cap(A)
    assert (await oracle.look()).gflow == {}
