"""browse: a look at the jobs of a group, in the order they would come."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from engine.lanes import BadArgument, BadId, Lanes, State
from tests.lanes.naming import ANA, BEN, CAT, A, B, C, new_job
from tests.lanes.oracle import Oracle
from tests.lanes.steps import claimed_ids, fill
from tests.lanes.watching import WatchedRedis


async def ids(lanes: Lanes, group: str | None, n: int, state: State = State.waiting) -> list[str]:
    return [record.id for record in await lanes.browse(group, n, state)]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 100])
async def test_what_waits_is_shown_as_it_would_be_claimed(lanes: Lanes, n: int) -> None:
    for lane, count in ((ANA, 3), (BEN, 1), (CAT, 2)):
        await fill(lanes, A, count, lane=lane)
    await fill(lanes, B, 2)
    shown = await ids(lanes, A, n)
    await lanes.pause(B)
    assert shown == (await claimed_ids(lanes, 6))[:n]


async def test_looking_changes_nothing(lanes: Lanes, oracle: Oracle) -> None:
    await fill(lanes, A, 3, lane=ANA)
    await fill(lanes, A, 3, lane=BEN)
    before = await oracle.raw()
    await lanes.browse(A, 4)
    assert await oracle.raw() == before


async def test_each_state_is_shown_by_itself(redis: WatchedRedis) -> None:
    lanes = Lanes(redis, "cm", max_attempts=1)
    await fill(lanes, A, 2)
    dead, leased = await lanes.claim(2)
    await lanes.retry(dead, "broken")
    later, waiting = new_job(), new_job()
    await lanes.enqueue(A, later, b"x", delay_ms=3_600_000)
    await lanes.enqueue(A, waiting, b"y")
    shown = {state: await lanes.browse(A, 10, state) for state in State}
    assert {state: [record.id for record in records] for state, records in shown.items()} == {
        State.waiting: [waiting],
        State.scheduled: [later],
        State.leased: [leased.id],
        State.dead: [dead.id],
    }
    for state, (record,) in shown.items():
        assert record == await lanes.job(record.id)
        assert record.state is state
    assert shown[State.dead][0].error == "broken"
    assert shown[State.leased][0].attempts == 1


async def test_the_whole_queue_is_shown_by_time(redis: WatchedRedis) -> None:
    lanes = Lanes(redis, "cm", max_attempts=1)
    for group in (C, A, B):
        await fill(lanes, group, 1)
        (job,) = await lanes.claim()
        await lanes.retry(job, "broken")
    assert [record.group for record in await lanes.browse(None, 2, State.dead)] == [C, A]
    with pytest.raises(BadArgument, match="group"):
        await lanes.browse(None, 2)


async def test_one_state_is_found_behind_a_thousand_of_another(lanes: Lanes, redis: WatchedRedis) -> None:
    with redis.unwatched():
        await fill(lanes, A, 1_100)
        await lanes.claim(1_100)
        later = new_job()
        await lanes.enqueue(A, later, b"", delay_ms=3_600_000)
    assert await ids(lanes, A, 5, State.scheduled) == [later]


async def test_ghosts_are_not_shown(lanes: Lanes, redis: Redis, oracle: Oracle) -> None:
    oracle.ghosts = True
    lost, kept = await fill(lanes, A, 2)
    await redis.delete(f"emq:{{cm}}:j:{lost}")
    assert await ids(lanes, A, 1) == [kept]


async def test_an_unknown_group_shows_nothing(lanes: Lanes) -> None:
    assert await lanes.browse(A) == []


async def test_bad_arguments_are_refused_by_name(lanes: Lanes) -> None:
    with pytest.raises(BadId, match="group"):
        await lanes.browse("*")
    for n in (0, 1001, True):
        with pytest.raises(BadArgument, match="n must"):
            await lanes.browse(A, n)
    with pytest.raises(BadArgument, match="state"):
        await lanes.browse(A, 1, "waiting")  # type: ignore[arg-type]  # what is under test
