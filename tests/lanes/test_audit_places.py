"""audit: a job that stands in several places keeps one of them, and runs once."""

from __future__ import annotations

from itertools import permutations

import pytest

from engine.lanes import Drift, Lanes, Verdict
from tests.lanes.naming import ANA, A, new_job
from tests.lanes.oracle import Oracle
from tests.lanes.steps import claimed_ids, fill, settle_all
from tests.lanes.watching import WatchedRedis

HOUR_MS = 3_600_000
LATER = 1_000_000


def key(name: str) -> str:
    return f"emq:{{cm}}:{name}"


async def put(redis: WatchedRedis, place: str, core: str, *, indexed: bool = True, token: int = LATER) -> str:
    """Put the job of ``core`` into one more place by hand, as a restored backup might; answer its entry there."""
    score = await redis.time()
    seq = int(core[14:30])
    if place == "waiting":
        await redis.zadd(key(f"g:{A}:{ANA}:pending"), {core[44:58]: seq})
        return core[44:58]
    zset, mark = {"leased": ("active", f"{token:016d}1"), "scheduled": ("schedule", "s"), "dead": ("dead", "d")}[place]
    await redis.zadd(key(zset), {core + mark: score[0] * 1000 + HOUR_MS})
    if indexed:
        await redis.zadd(key("out"), {core + mark: 0})
    return core + mark


async def job_in(lanes: Lanes, redis: WatchedRedis, place: str) -> str:
    """A job of A in a place, by what all its entries begin with."""
    job_id = new_job()
    await lanes.enqueue(A, job_id, b"", lane=ANA, delay_ms=HOUR_MS if place == "scheduled" else 0)
    if place in {"leased", "dead"}:
        (job,) = await lanes.claim(1, HOUR_MS)
        if place == "dead":
            assert await Lanes(redis, "cm", max_attempts=1).retry(job, "broken") is Verdict.dead
    record = await lanes.job(job_id)
    assert record is not None
    return f"{A}{record.seq:016d}{ANA}{job_id}"


ORDER = ("leased", "waiting", "scheduled", "dead")
"""The first of a job's places is the one it keeps."""


@pytest.mark.case("L4")
@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize(("place", "other"), list(permutations(ORDER, 2)))
async def test_a_job_in_two_places_is_found_and_keeps_one(
    lanes: Lanes, redis: WatchedRedis, oracle: Oracle, place: str, other: str, *, indexed: bool
) -> None:
    with redis.unwatched():
        core = await job_in(lanes, redis, place)
        await put(redis, other, core, indexed=indexed)
        kept, left = sorted((place, other), key=ORDER.index)
        mended = await lanes.audit(repair=True)
        assert Drift("places", core, f"{kept} and {left}", kept) in mended.drift
        assert (await lanes.audit()).clean
    oracle.forget()
    await oracle.check()
    record = await lanes.job(core[44:58])
    assert record is not None
    assert record.state == kept


@pytest.mark.case("L4")
async def test_looking_finds_it_and_changes_nothing(lanes: Lanes, redis: WatchedRedis, oracle: Oracle) -> None:
    with redis.unwatched():
        core = await job_in(lanes, redis, "waiting")
        for place in ("leased", "scheduled", "dead"):
            await put(redis, place, core)
        before = await oracle.raw()
        found = await lanes.audit()
        assert Drift("places", core, "leased and waiting and scheduled and dead", "leased") in found.drift
        assert await oracle.raw() == before
        await lanes.audit(repair=True)
    oracle.forget()


@pytest.mark.case("L4")
async def test_of_two_leases_the_newer_one_is_kept_and_settles(
    lanes: Lanes, redis: WatchedRedis, oracle: Oracle
) -> None:
    """The slot of the other comes back, and whoever had it is told that it is stale."""
    await lanes.limit(A, 2)
    core = await job_in(lanes, redis, "leased")
    (waiting,) = await fill(lanes, A, 1)
    (mine,) = [entry for entry in (await oracle.look()).leases if entry.job == core[44:58]]
    with redis.unwatched():
        older = await put(redis, "leased", core, token=mine.token - 1)
        await redis.hset(key("gactive"), A, "2")
        mended = await lanes.audit(repair=True)
        assert [drift.what for drift in mended.drift] == ["places", "active"]
    oracle.forget()
    state = await oracle.check()
    assert older not in {entry.member for entry in state.leases}
    assert [entry.token for entry in state.leases] == [mine.token]
    assert await claimed_ids(lanes, 9) == [waiting]


@pytest.mark.case("L4")
async def test_a_repaired_job_runs_once_and_its_worker_may_complete_it(
    lanes: Lanes, redis: WatchedRedis, oracle: Oracle
) -> None:
    await fill(lanes, A, 2, lane=ANA)
    (job,) = await lanes.claim(1, HOUR_MS)
    with redis.unwatched():
        await put(redis, "waiting", job.lease[:58])
        await put(redis, "dead", job.lease[:58])
        await lanes.audit(repair=True)
    oracle.forget()
    assert await lanes.complete([job]) == [Verdict.ok]
    served = await settle_all(lanes)
    assert len(served) == 1
    assert job.id not in {other.id for other in served}
    assert (await oracle.look()).groups == set()
