"""audit: whatever was counted wrongly, indexed wrongly or lost is found, and mended where that is asked for."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from engine.lanes import Job, Lanes, State
from tests.lanes.naming import ANA, BEN, A, B, C, new_job, room
from tests.lanes.oracle import Oracle
from tests.lanes.parking import parked
from tests.lanes.steps import fill, lapse, settle_all
from tests.lanes.watching import WatchedRedis

LANE = f"g:{A}:{ANA}:pending"
Break = Callable[[Redis], Awaitable[Any]]


def key(name: str) -> str:
    return f"emq:{{cm}}:{name}"


@pytest.fixture
def lanes(redis: WatchedRedis) -> Lanes:
    return Lanes(redis, "cm", max_attempts=2)


async def busy(lanes: Lanes) -> None:
    """A queue with jobs waiting, scheduled and leased, a full group, and a cap."""
    await lanes.limit(B, 1)
    await lanes.cap(A, depth=90)
    for group in (A, B, C):
        for lane in (ANA, BEN):
            await fill(lanes, group, 3, lane=lane)
    for job in await lanes.claim(5):
        if job.group == A:
            await lanes.retry(job, "broken", 0 if job.lane == ANA else 3_600_000)
    await lanes.enqueue(C, new_job(), b"", delay_ms=3_600_000, weight=2)


async def test_a_sound_queue_is_clean(lanes: Lanes, oracle: Oracle) -> None:
    await busy(lanes)
    before = await oracle.raw()
    audit = await lanes.audit()
    assert audit.clean
    assert (audit.groups, audit.jobs, audit.repaired) == (3, 19, False)
    assert (await lanes.audit(repair=True)).clean
    assert await oracle.raw() == before


async def test_an_empty_queue_is_clean(lanes: Lanes) -> None:
    audit = await lanes.audit()
    assert (audit.clean, audit.groups, audit.lanes, audit.jobs) == (True, 0, 0, 0)


BREAKS: dict[str, tuple[str, Break]] = {
    "a depth too large": ("depth", lambda redis: redis.hincrby(key("gdepth"), A, 3)),
    "a depth gone": ("depth", lambda redis: redis.hdel(key("gdepth"), A)),
    "a depth of nobody": ("depth", lambda redis: redis.hset(key("gdepth"), room(99), 4)),
    "slots lost": ("active", lambda redis: redis.hincrby(key("gactive"), C, 2)),
    "slots of nobody": ("active", lambda redis: redis.hset(key("gactive"), room(99), 1)),
    "a ceiling passed by": ("active", lambda redis: redis.hdel(key("gactive"), B)),
    "a group off the ring": ("ring", lambda redis: redis.lrem(key("ring"), 1, C)),
    "a group on the ring twice": ("ring", lambda redis: redis.rpush(key("ring"), C)),
    "a full group on the ring": ("ring", lambda redis: redis.rpush(key("ring"), B)),
    "a stranger on the ring": ("ring", lambda redis: redis.rpush(key("ring"), room(99))),
    "no ring": ("ring", lambda redis: redis.delete(key("ring"))),
    "a flag gone": ("ring", lambda redis: redis.hdel(key("served"), A)),
    "a flag too many": ("ring", lambda redis: redis.hset(key("served"), B, 1)),
    "no flags": ("ring", lambda redis: redis.delete(key("served"))),
    "a lane off its ring": ("inner ring", lambda redis: redis.lrem(key(f"g:{C}:ring"), 1, ANA)),
    "a lane on its ring twice": ("inner ring", lambda redis: redis.rpush(key(f"g:{C}:ring"), ANA)),
    "an empty lane on a ring": ("inner ring", lambda redis: redis.rpush(key(f"g:{C}:ring"), C)),
    "no inner ring": ("inner ring", lambda redis: redis.delete(key(f"g:{C}:ring"))),
    "no index": ("index", lambda redis: redis.delete(key("out"))),
    "an index entry of nothing": (
        "index",
        lambda redis: redis.zadd(key("out"), {f"{A}{7:016d}{A}{new_job()}d": 0}),
    ),
    "a delayed job uncounted": ("delayed", lambda redis: redis.delete(key("ldelayed"))),
    "a delayed job of nobody": ("delayed", lambda redis: redis.hset(key("ldelayed"), room(99) + ANA, 1)),
    "a stamp of nobody": ("stamp", lambda redis: redis.hset(key("gstamp"), room(99), 2)),
    "a pace of nobody": ("pace", lambda redis: redis.hset(key("gflow"), room(99), 2)),
    "a group taken for ever": ("taken", lambda redis: redis.sadd(key("taken"), room(99))),
    "leases lost": ("lost", lambda redis: redis.delete(key("active"))),
    "lanes lost": ("lost", lambda redis: redis.delete(key(f"g:{C}:{ANA}:pending"))),
    "a schedule lost": ("lost", lambda redis: redis.delete(key("schedule"))),
    "a job of nowhere": ("lost", lambda redis: redis.set(key(f"j:{new_job()}"), f"{A}{5:016d}{A}".encode() + bytes(8))),
    "a record of nothing": ("record", lambda redis: redis.set(key(f"j:{new_job()}"), "x")),
    "a visit of nobody": ("visit", lambda redis: redis.hset(key("state"), mapping={"visit": B, "credit": 1})),
}
FOREIGN = [
    *(
        "ring",
        "active",
        "schedule",
        "dead",
        "gactive",
        "gdepth",
        "gstamp",
        "gflow",
        "ldelayed",
        "served",
        "taken",
        "wake",
    ),
    *("state", f"g:{A}:ring", "out", LANE, f"g:{C}:{BEN}:pending"),
]


async def make_foreign(redis: Redis, name: str) -> None:
    """Put something of another type in the key's place."""
    await redis.delete(key(name))
    await redis.set(key(name), "x")


@pytest.mark.case("L4")
@pytest.mark.parametrize(("what", "spoil"), BREAKS.values(), ids=BREAKS)
async def test_what_is_wrong_is_found_and_mended(
    lanes: Lanes, redis: WatchedRedis, oracle: Oracle, what: str, spoil: Break
) -> None:
    with redis.unwatched():
        await busy(lanes)
        await spoil(redis)
        found = await lanes.audit()
        assert what in {drift.what for drift in found.drift}
        assert (await lanes.audit()).drift == found.drift  # looking mends nothing
        mended = await lanes.audit(repair=True)
        assert mended.repaired
        assert what in {drift.what for drift in mended.drift}
        assert (await lanes.audit()).clean
    await oracle.check()


@pytest.mark.case("L4")
@pytest.mark.parametrize("name", FOREIGN)
async def test_keys_of_foreign_types_are_found_and_no_job_is_lost(
    lanes: Lanes, redis: WatchedRedis, oracle: Oracle, name: str
) -> None:
    with redis.unwatched():
        await busy(lanes)
        before = set((await oracle.look()).records)
        await make_foreign(redis, name)
        assert "type" in {drift.what for drift in (await lanes.audit()).drift}
        await lanes.audit(repair=True)
        assert (await lanes.audit()).clean
    oracle.forget()
    await oracle.check()
    assert set((await oracle.look()).records) == before
    assert (await lanes.audit()).clean


VERBS: dict[str, Callable[[Lanes, Job, str], Awaitable[object]]] = {
    "complete": lambda lanes, job, _: lanes.complete([job]),
    "retry": lambda lanes, job, _: lanes.retry(job, "broken", 0),
    "release": lambda lanes, job, _: lanes.release([job]),
    "reap": lambda lanes, *_: lanes.reap(),
    "claim": lambda lanes, *_: lanes.claim(9),
    "enqueue": lambda lanes, _, extra: lanes.enqueue(A, extra, b"", lane=ANA),
}


@pytest.mark.case("L4")
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", ["gactive", "gdepth", "served", "ring", "out", f"g:{A}:ring", LANE])
async def test_an_error_in_the_middle_of_a_verb_is_mended(
    lanes: Lanes, redis: WatchedRedis, oracle: Oracle, verb: str, name: str
) -> None:
    """Whatever a verb had done when it met the foreign key: no job is lost, and after the repair each runs once."""
    with redis.unwatched():
        admitted = [*await fill(lanes, A, 2, lane=ANA), *await fill(lanes, B, 1)]
        (job,) = await lanes.claim(1, lease_ms=1 if verb == "reap" else 60_000)
        await lapse(redis, [job] if verb == "reap" else [])
        await make_foreign(redis, name)
        extra = new_job()
        with contextlib.suppress(ResponseError):
            await VERBS[verb](lanes, job, extra)
        await lanes.audit(repair=True)
        assert (await lanes.audit()).clean
        oracle.forget()
        await oracle.check()
        living = set((await oracle.look()).records)
        assert living >= set(admitted) - ({job.id} if verb == "complete" else set())
        held = [record.id for record in await lanes.browse(None, 9, State.leased)]
        served = [each.id for each in await settle_all(lanes)]
    assert sorted([*served, *held]) == sorted(living)


async def test_an_audit_under_load_finds_nothing_wrong(lanes: Lanes, redis: WatchedRedis) -> None:
    """What merely moves while it looks is no drift."""
    with redis.unwatched():
        over = False

        async def load(number: int) -> None:
            while not over:
                await fill(lanes, room(number % 7), 3, lane=ANA if number % 2 else BEN)
                jobs = await lanes.claim(4)
                await lanes.complete(jobs[:2])
                await lanes.release(jobs[2:])

        loads = [asyncio.create_task(load(number)) for number in range(6)]
        try:
            for _ in range(5):
                assert (await lanes.audit()).drift == ()
                assert (await lanes.audit(repair=True)).drift == ()
        finally:
            over = True
            await asyncio.gather(*loads)


async def test_a_group_that_a_repair_makes_servable_wakes_a_worker(lanes: Lanes, redis: WatchedRedis) -> None:
    with redis.unwatched():
        await fill(lanes, A, 1)
        await redis.delete(key("ring"), key("served"))
        async with parked(lanes, redis) as (worker,):
            await lanes.audit(repair=True)
            await asyncio.wait_for(worker, 1.5)
