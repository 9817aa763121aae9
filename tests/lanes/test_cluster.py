"""Lanes on a cluster: every script is legal there, and finds the queue's node, also when that changes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator

import pytest
from redis.asyncio.cluster import RedisCluster

from engine.lanes import BadArgument, Lanes, QueueFull, Reassignment, State, Verdict
from engine.lanes.scripts import expand, script
from tests.lanes.naming import ANA, BEN, A, B, C, new_job
from tests.lanes.steps import fill
from tests.lanes.test_scripts import VERBS
from tests.servers.cluster import PRIMARIES, Cluster
from tests.waiting import wait_until

pytestmark = [pytest.mark.case("L26"), pytest.mark.xdist_group("cluster")]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture
async def redis(cluster: Cluster) -> AsyncIterator[RedisCluster]:
    await wait_until(lambda: all(leads(cluster, node) for node in range(PRIMARIES)), "every primary leads again")
    flush(cluster)
    async with cluster.client() as client:
        yield client


@pytest.fixture(autouse=True)
def _invariants_hold_at_the_end() -> None:
    """The oracle looks at another server."""


def flush(cluster: Cluster) -> None:
    for node in range(PRIMARIES):
        cluster.ask(node, "FLUSHALL")


def queue_on(cluster: Cluster, redis: RedisCluster, node: int) -> str:
    """A queue's name whose slot is the node's."""
    names = (f"cm.{number}" for number in range(1_000))
    return next(name for name in names if cluster.node_of(redis.keyslot(f"emq:{{{name}}}:")) == node)


async def every_verb(lanes: Lanes) -> None:
    """Run each script at least once, and see that it did its work."""
    first, second, third = await fill(lanes, A, 3, lane=ANA)
    await lanes.enqueue(B, new_job(), b"x", delay_ms=3_600_000)
    await lanes.cap(A, depth=3)
    with pytest.raises(QueueFull):
        await lanes.enqueue(A, new_job(), b"")
    await lanes.limit(A, 9)
    await lanes.weight(A, 2)
    await lanes.pause(C)
    await lanes.hold(C, 60_000)
    assert await lanes.reassign(third, B, BEN) is Reassignment.reassigned
    (job,) = await lanes.claim()
    assert job.id == first
    assert await lanes.extend([job], 60_000) == [Verdict.ok]
    verdicts, (other,) = await lanes.exchange([job], 1)
    assert (verdicts, other.id) == ([Verdict.ok], second)
    assert await lanes.release([other]) == [Verdict.ok]
    jobs = await lanes.claim_group(5)
    assert len(jobs) == 1
    assert await lanes.retry(jobs[0], "broken") is Verdict.dead
    assert await lanes.redrive(jobs[0].group) == 1
    assert (await lanes.reap(), await lanes.reap_group(A), await lanes.promote()) == (0, 0, 0)
    await lanes.wait(10)
    assert await lanes.oldest(B) is not None
    assert await lanes.depth(B) >= 1
    assert await lanes.job(second) is not None
    assert len(await lanes.browse(B, 5, State.scheduled)) == 1
    assert (await lanes.stats()).scheduled == 1
    await lanes.pause_all()
    assert await lanes.claim() == []
    await lanes.resume_all()
    await lanes.resume(C)
    assert (await lanes.audit(repair=True)).clean
    assert await lanes.complete(await lanes.claim(9)) == [Verdict.ok] * 2
    assert await lanes.drain(B) == 1
    for group in (A, B, C):
        await lanes.forget(group)
    await lanes.pause_all()
    await lanes.wait(1)
    await lanes.resume_all()


@pytest.mark.parametrize("node", range(PRIMARIES))
async def test_every_script_runs_on_every_node(cluster: Cluster, redis: RedisCluster, node: int) -> None:
    for each in range(PRIMARIES):
        cluster.ask(each, "SCRIPT", "FLUSH")
    queue = queue_on(cluster, redis, node)
    await every_verb(Lanes(redis, queue, max_attempts=1))
    ran = cluster.ask(node, "SCRIPT", "EXISTS", *(script(verb).sha for verb in VERBS))
    assert {verb for verb, known in zip(VERBS, ran, strict=True) if not known} == set()
    for each in set(range(PRIMARIES)) - {node}:
        assert cluster.ask(each, "DBSIZE") == 0


async def test_a_flushed_node_learns_its_scripts_again(cluster: Cluster, redis: RedisCluster) -> None:
    lanes = Lanes(redis, queue_on(cluster, redis, 1))
    await fill(lanes, A, 2)
    cluster.ask(1, "SCRIPT", "FLUSH")
    assert len(await lanes.claim(2)) == 2


async def test_a_parked_worker_is_woken_over_the_cluster(cluster: Cluster, redis: RedisCluster) -> None:
    lanes = Lanes(redis, queue_on(cluster, redis, 2))
    waiting = asyncio.create_task(lanes.wait(20_000))
    await wait_until(lambda: blocked(cluster, 2), "the worker is parked")
    await fill(lanes, A, 1)
    await asyncio.wait_for(waiting, 1.5)


def blocked(cluster: Cluster, node: int) -> bool:
    return "cmd=blpop" in str(cluster.ask(node, "CLIENT", "LIST"))


def follows(cluster: Cluster, node: int) -> bool:
    """Whether it has all that its primary has."""
    return bool(cluster.ask(node, "INFO", "replication").get("master_link_status") == "up")


def leads(cluster: Cluster, node: int) -> bool:
    return bool(cluster.ask(node, "INFO", "replication")["role"] == "master")


async def test_a_queue_moves_to_another_node_and_nothing_is_split_or_lost(
    cluster: Cluster, redis: RedisCluster
) -> None:
    """While its keys are on two nodes no script runs; whoever asks then waits, and goes on over there."""
    queue = queue_on(cluster, redis, 1)
    slot = redis.keyslot(f"emq:{{{queue}}}:")
    lanes = Lanes(redis, queue)
    admitted = await fill(lanes, A, 20, lane=ANA)
    cluster.ask(2, "CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.id_of(1))
    cluster.ask(1, "CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.id_of(2))
    late = new_job()
    asking = asyncio.create_task(lanes.enqueue(A, late, b"", lane=ANA))
    await asyncio.sleep(0)
    keys = cluster.ask(1, "CLUSTER", "GETKEYSINSLOT", slot, 1_000)
    cluster.ask(1, "MIGRATE", "127.0.0.1", cluster.ports[2], "", 0, 5_000, "KEYS", *keys)
    for node in (2, 1, 0):
        cluster.ask(node, "CLUSTER", "SETSLOT", slot, "NODE", cluster.id_of(2))
    try:
        assert await asking == "enqueued"
        assert [job.id for job in await lanes.claim(99)] == [*admitted, late]
        assert cluster.ask(1, "DBSIZE") == 0
    finally:
        flush(cluster)
        for node in (1, 2, 0):
            cluster.ask(node, "CLUSTER", "SETSLOT", slot, "NODE", cluster.id_of(1))
        cluster.wait("NODES", "slave")


async def test_a_failover_is_followed(cluster: Cluster, redis: RedisCluster) -> None:
    """The replica takes over under load; what was admitted and answered is there."""
    lanes = Lanes(redis, queue_on(cluster, redis, 0), max_attempts=None)
    admitted: list[str] = []
    over = asyncio.Event()

    async def produce() -> None:
        while not over.is_set():
            job_id = new_job()
            with contextlib.suppress(Exception):
                await lanes.enqueue(A, job_id, b"")
                admitted.append(job_id)

    await fill(lanes, A, 1)
    replica = PRIMARIES
    await wait_until(lambda: follows(cluster, replica), "it follows")
    producing = asyncio.create_task(produce())
    await wait_until(lambda: len(admitted) > 50, "the load is on")
    cluster.ask(replica, "CLUSTER", "FAILOVER")
    try:
        await wait_until(lambda: leads(cluster, replica), "it took over")
        so_far = len(admitted)
        await wait_until(lambda: len(admitted) > so_far + 50, "the load goes on over there")
        over.set()
        await producing
        left: set[str] = set()
        while jobs := await lanes.claim(1_000):
            left.update(job.id for job in jobs)
            await lanes.complete(jobs)
        assert set(admitted) <= left
    finally:
        over.set()
        await asyncio.gather(producing, return_exceptions=True)
        await wait_until(lambda: follows(cluster, 0), "it follows")
        cluster.ask(0, "CLUSTER", "FAILOVER")
        await wait_until(lambda: leads(cluster, 0), "it is back")


async def test_a_client_that_decodes_or_is_none_is_refused() -> None:
    with pytest.raises(BadArgument, match="decode_responses"):
        Lanes(RedisCluster(host="127.0.0.1", port=1, decode_responses=True), "cm")
    with pytest.raises(BadArgument, match="redis"):
        Lanes(object(), "cm")  # type: ignore[arg-type]  # what is under test


def test_every_script_declares_but_one_key() -> None:
    assert all("KEYS[2]" not in expand(verb) for verb in VERBS)
