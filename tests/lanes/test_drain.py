"""drain: what waits and is scheduled goes; what is in flight or dead, and the levers, stay."""

from __future__ import annotations

import asyncio

import pytest

from engine.lanes import BadId, Lanes, Submission, Verdict
from tests.lanes.counting import Counted
from tests.lanes.naming import ANA, BEN, CAT, A, B, new_job, player
from tests.lanes.oracle import Oracle
from tests.lanes.steps import claimed_ids, fill
from tests.lanes.watching import WatchedRedis


async def test_a_drained_group_is_empty_and_others_are_untouched(lanes: Lanes, oracle: Oracle) -> None:
    for lane in (ANA, BEN, None):
        await fill(lanes, A, 3, lane=lane)
    await lanes.enqueue(A, new_job(), b"", delay_ms=3_600_000)
    other = await fill(lanes, B, 2)
    assert await lanes.drain(A) == 10
    assert await lanes.drain(A) == 0
    state = await oracle.look()
    assert state.groups == {B}
    assert set(state.records) == set(other)


async def test_what_is_in_flight_or_dead_stays_and_can_be_settled(redis: WatchedRedis) -> None:
    lanes = Lanes(redis, "cm", max_attempts=1)
    await fill(lanes, A, 4)
    first, second = await lanes.claim(2)
    await lanes.retry(first, "broken")
    assert await lanes.drain(A) == 2
    assert await lanes.complete([second]) == [Verdict.ok]
    assert await lanes.redrive(A) == 1
    assert await claimed_ids(lanes, 9) == [first.id]


async def test_levers_stay(lanes: Lanes, oracle: Oracle) -> None:
    await lanes.limit(A, 1)
    await lanes.weight(A, 2)
    await lanes.cap(A, depth=9)
    await lanes.pause(A)
    await fill(lanes, A, 2)
    assert await lanes.drain(A) == 2
    state = await oracle.look()
    assert (state.glimit, state.gweight, state.gcap, state.paused) == ({A: 1}, {A: 2}, {A: "9"}, {A})


async def test_one_lane_is_drained_alone(lanes: Lanes, oracle: Oracle) -> None:
    await fill(lanes, A, 3, lane=ANA)
    kept = await fill(lanes, A, 2, lane=BEN)
    for lane in (ANA, BEN):
        await lanes.enqueue(A, new_job(), b"", lane=lane, delay_ms=3_600_000)
    assert await lanes.drain(A, ANA) == 4
    assert await lanes.drain(A, CAT) == 0
    assert (await oracle.look()).inner == {A: [BEN]}
    assert await claimed_ids(lanes, 9) == kept


@pytest.mark.case("L16")
@pytest.mark.parametrize("lane", [None, ANA])
async def test_a_group_drained_in_the_middle_of_its_visit_leaves_the_ring(lanes: Lanes, lane: str | None) -> None:
    await lanes.weight(A, 3)
    await fill(lanes, A, 3, lane=ANA)
    await fill(lanes, B, 1)
    await lanes.claim(1)
    assert await lanes.drain(A, lane) == 2
    assert [job.group for job in await lanes.claim(9)] == [B]
    late = await fill(lanes, A, 1)
    assert await claimed_ids(lanes, 9) == late


async def test_a_drained_id_may_come_in_again(lanes: Lanes) -> None:
    (job_id,) = await fill(lanes, A, 1)
    await lanes.drain(A)
    assert await lanes.enqueue(A, job_id, b"") == "enqueued"


async def test_draining_much_takes_many_short_scripts(lanes: Lanes, redis: WatchedRedis) -> None:
    with redis.unwatched():
        for number in range(30):
            await fill(lanes, A, 100, lane=player(number))
    async with Counted(redis) as counted:
        assert await lanes.drain(A) == 3_000
    assert counted.scripts >= 6
    assert await lanes.depth(A) == 0


async def test_what_comes_in_meanwhile_stays(lanes: Lanes, redis: WatchedRedis) -> None:
    """A busy producer neither keeps a drain from ending nor loses what it admits after it began."""
    with redis.unwatched():
        old = [job for number in range(20) for job in await fill(lanes, A, 100, lane=player(number))]
        admitted: list[str] = []

        async def produce() -> None:
            while True:
                job_id = new_job()
                await lanes.enqueue_many([Submission(A, job_id, b"", lane=player(len(admitted) % 40))])
                admitted.append(job_id)

        producing = asyncio.create_task(produce())
        drained = await asyncio.wait_for(lanes.drain(A), 30)
        producing.cancel()
        await asyncio.gather(producing, return_exceptions=True)
        left = await claimed_ids(lanes, 10_000)
    assert not set(left) & set(old)
    assert drained + len(left) >= len(old) + len(admitted)


async def test_an_ill_formed_id_is_refused_by_name(lanes: Lanes) -> None:
    with pytest.raises(BadId, match="group"):
        await lanes.drain("*")
    with pytest.raises(BadId, match="lane"):
        await lanes.drain(A, "*")
