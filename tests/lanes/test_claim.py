"""claim: the next jobs in rota order, leased, in one round trip."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from engine.lanes import Lanes
from tests.lanes.counting import Counted
from tests.lanes.naming import ANA, BEN, CAT, A, B, C, new_job, player, room
from tests.lanes.oracle import Oracle
from tests.lanes.steps import claimed_ids, fill, lapse, past, server_ms, settle_all
from tests.lanes.watching import WatchedRedis
from tests.waiting import wait_until


async def groups(lanes: Lanes, count: int) -> list[str]:
    return [job.group for job in await lanes.claim(count)]


async def test_an_empty_queue_answers_an_empty_list(lanes: Lanes) -> None:
    assert await lanes.claim() == []
    assert await lanes.claim(10) == []


async def test_a_claim_takes_one_job_for_thirty_seconds_unless_told_otherwise(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 2)
    before = await server_ms(redis)
    (job,) = await lanes.claim()
    assert before + 30_000 <= job.lease_until_ms <= await server_ms(redis) + 30_000


async def test_groups_take_turns_whatever_their_backlogs(lanes: Lanes) -> None:
    await fill(lanes, A, 100)
    await fill(lanes, B, 3)
    await fill(lanes, C, 2)
    assert await groups(lanes, 9) == [A, B, C, A, B, C, A, B, A]


async def test_one_claim_of_many_serves_the_order_of_many_claims_of_one(lanes: Lanes) -> None:
    for group in (A, B, C):
        await fill(lanes, group, 5, lane=ANA)
        await fill(lanes, group, 5, lane=BEN)
    served = [(await lanes.claim())[0] for _ in range(10)] + await lanes.claim(20)
    assert [job.group for job in served] == [A, B, C] * 10
    assert [job.lane for job in served] == [ANA, ANA, ANA, BEN, BEN, BEN] * 5


async def test_players_of_a_room_take_turns(lanes: Lanes) -> None:
    await fill(lanes, A, 10, lane=ANA)
    await fill(lanes, A, 1, lane=BEN)
    await fill(lanes, A, 2, lane=CAT)
    assert [job.lane for job in await lanes.claim(6)] == [ANA, BEN, CAT, ANA, CAT, ANA]


async def test_a_lane_whose_turn_it_was_waits_for_its_next_turn_when_it_empties_and_fills_again(lanes: Lanes) -> None:
    await fill(lanes, A, 1, lane=ANA)
    await fill(lanes, A, 2, lane=BEN)
    assert [job.lane for job in await lanes.claim()] == [ANA]
    await fill(lanes, A, 1, lane=ANA)
    assert [job.lane for job in await lanes.claim(3)] == [BEN, ANA, BEN]


@pytest.mark.case("L12")
async def test_a_room_of_many_players_and_a_room_of_one_get_half_each(lanes: Lanes, redis: WatchedRedis) -> None:
    with redis.unwatched():
        for number in range(1000):
            await lanes.enqueue(A, new_job(), b"", lane=player(number))
        await fill(lanes, B, 500, lane=ANA)
        served = [group for _ in range(100) for group in await groups(lanes, 8)]
    assert (served.count(A), served.count(B)) == (400, 400)
    assert max(abs(served[:n].count(A) - served[:n].count(B)) for n in range(len(served))) <= 1


@pytest.mark.case("L10")
async def test_a_full_group_at_the_front_hides_nobody(lanes: Lanes, redis: WatchedRedis) -> None:
    await lanes.limit(A, 1)
    with redis.unwatched():
        await fill(lanes, A, 10_000)
    assert await groups(lanes, 10) == [A]
    await fill(lanes, B, 1)
    async with Counted(redis) as counted:
        assert await groups(lanes, 1) == [B]
    assert counted.calls < 40


async def test_a_claim_answers_what_there_is_when_that_is_less(lanes: Lanes) -> None:
    await fill(lanes, A, 2)
    await fill(lanes, B, 1)
    assert await groups(lanes, 100) == [A, B, A]


async def test_every_claim_has_a_larger_token(lanes: Lanes) -> None:
    tokens = []
    for _ in range(3):
        await fill(lanes, A, 3)
        await fill(lanes, B, 3)
        tokens += [job.token for job in await lanes.claim(4)]
    assert tokens == sorted(set(tokens))


async def test_a_token_is_at_least_the_servers_microseconds(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 1)
    before_us = await server_ms(redis) * 1000
    (job,) = await lanes.claim()
    assert job.token >= before_us


async def test_attempts_are_counted_at_the_claim(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 1)
    for attempt in (1, 2, 3):
        jobs = await lanes.claim(lease_ms=1)
        assert [job.attempts for job in jobs] == [attempt]
        await lapse(redis, jobs)


async def test_a_claim_runs_what_has_come_due(lanes: Lanes, redis: Redis) -> None:
    await lanes.enqueue(A, new_job(), b"", delay_ms=1)
    await past(redis, await server_ms(redis) + 1)
    assert await groups(lanes, 1) == [A]


@pytest.mark.case("L13")
async def test_groups_whose_jobs_are_not_due_hide_nobody(lanes: Lanes, redis: Redis) -> None:
    for number in range(10, 59):
        await lanes.enqueue(room(number), new_job(), b"", delay_ms=3_600_000)
    await lanes.enqueue(A, new_job(), b"", delay_ms=1)
    await past(redis, await server_ms(redis) + 1)
    assert await groups(lanes, 1) == [A]


async def test_a_claim_takes_back_lapsed_leases(lanes: Lanes, redis: Redis) -> None:
    admitted = await fill(lanes, A, 3)
    await lapse(redis, await lanes.claim(2, lease_ms=1))
    assert await claimed_ids(lanes, 3) == admitted


async def test_a_claim_ends_holds_that_are_over(lanes: Lanes, redis: Redis) -> None:
    await fill(lanes, A, 2)
    await lanes.complete(await lanes.claim(), cooldown_ms=20)
    over_ms = await server_ms(redis) + 20
    await wait_until(lanes.claim, "the cool-down is over")
    assert await server_ms(redis) >= over_ms - 20


async def test_a_claim_is_one_round_trip(lanes: Lanes, redis: WatchedRedis) -> None:
    for group in (A, B, C):
        await fill(lanes, group, 20)
    await lanes.claim()
    async with Counted(redis) as counted:
        assert len(await lanes.claim(50)) == 50
    assert counted.scripts == 1


@pytest.mark.parametrize("lease_ms", [0, -1, 86_400_001])
async def test_a_lease_is_between_a_millisecond_and_a_day(lanes: Lanes, lease_ms: int) -> None:
    await fill(lanes, A, 1)
    with pytest.raises(ValueError, match="lease"):
        await lanes.claim(1, lease_ms)
    with pytest.raises(ValueError, match="lease"):
        await lanes.claim_group(1, lease_ms)
    assert await lanes.depth(A) == 1


@pytest.mark.parametrize("lease_ms", [1, 86_400_000])
async def test_the_shortest_and_the_longest_lease_are_granted(lanes: Lanes, redis: Redis, lease_ms: int) -> None:
    await fill(lanes, A, 1)
    before = await server_ms(redis)
    (job,) = await lanes.claim(1, lease_ms)
    assert before + lease_ms <= job.lease_until_ms <= await server_ms(redis) + lease_ms


async def test_nothing_but_leases_is_left_of_a_claimed_queue_and_nothing_at_all_of_a_settled_one(
    lanes: Lanes, oracle: Oracle
) -> None:
    for number in range(50):
        await fill(lanes, room(number), 1, lane=player(number))
    jobs = await lanes.claim(50)
    state = await oracle.look()
    assert (state.ring, state.inner, state.waiting) == ([], {}, {})
    await lanes.complete(jobs)
    assert (await oracle.look()).groups == set()


async def test_a_served_queue_serves_everything_exactly_once(lanes: Lanes) -> None:
    admitted = [job for number in range(20) for job in await fill(lanes, room(number), 1 + number % 4, player(number))]
    served = await settle_all(lanes, batch=7)
    assert sorted(job.id for job in served) == sorted(admitted)
