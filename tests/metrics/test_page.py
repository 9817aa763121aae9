"""/metrics: true to the lanes, as many series for two thousand rooms as for twenty, and there while Redis is not."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import httpx
import pytest
from redis.asyncio import Redis

from bot.embedded import EmbeddedValkey
from bot.metrics import Meters
from bot.metrics.queues import OTHER
from bot.metrics.reading import TOP
from engine.game.notices import Refusal
from engine.lanes import Lanes, Submission
from tests.lanes.naming import A, B, C, new_job, room
from tests.lanes.steps import fill, lapse, server_ms
from tests.metrics.scraping import OPEN, Scrape, page_on, scrape
from tests.servers.redis import test_server as redis_server
from tests.waiting import wait_until

LABELS = {
    "queue": {"cm", "cm.settle", "cm.notify"},
    "answer": {"granted", "chat", "everyone"},
    "status": {"200", "503"},
    "method": {"sendMessage"},
    "reason": {refusal.value for refusal in Refusal},
    "version": {version("codemojex")},
}
"""What labels may say where nothing but the lanes was used."""


@pytest.fixture
def lanes(redis: Redis) -> Lanes:
    return Lanes(redis, "cm", max_attempts=2)


@pytest.fixture
async def client(redis: Redis, meters: Meters) -> AsyncIterator[httpx.AsyncClient]:
    async with page_on(redis, meters) as opened:
        yield opened


async def serve(lanes: Lanes, meters: Meters, jobs: int) -> None:
    """Serve so many jobs, as a worker of this process would."""
    observer = meters.work.of(lanes.queue, 30_000)
    while jobs:
        claimed = await lanes.claim(min(jobs, 100))
        observer.claimed(claimed)
        await lanes.complete(claimed)
        jobs -= len(claimed)


async def test_a_queue_s_totals_are_those_of_the_lanes(redis: Redis, lanes: Lanes, client: httpx.AsyncClient) -> None:
    await fill(lanes, A, 4)
    await fill(lanes, B, 2)
    await lanes.enqueue(C, new_job(), b"", delay_ms=3_600_000)
    first, second, _ = await lanes.claim(3)
    await lanes.retry(first, "broken", 3_600_000)
    await lanes.release([second])
    await lapse(redis, await lanes.claim(1, lease_ms=1))
    await lanes.reap(9)
    await lanes.pause(B)
    told = await scrape(client)
    stats = await lanes.stats()
    totals = {
        "waiting_jobs": stats.waiting,
        "scheduled_jobs": stats.scheduled,
        "leased_jobs": stats.leased,
        "dead_jobs": stats.dead,
        "groups": stats.groups,
        "servable_groups": stats.servable,
        "paused_groups": 1,
        "paused": 0,
        "granted_total": 4,
        "lapsed_total": 1,
        "up": 1,
    }
    assert {name: told.of(f"codemojex_queue_{name}", queue="cm") for name in totals} == totals
    await lanes.pause_all()
    assert (await scrape(client)).of("codemojex_queue_paused", queue="cm") == 1


async def test_a_group_s_levers_and_work_stand_beside_each_other(
    lanes: Lanes, client: httpx.AsyncClient, meters: Meters
) -> None:
    await fill(lanes, A, 30)
    await fill(lanes, B, 30)
    await lanes.weight(A, 3)
    await lanes.limit(A, 20)
    observer = meters.work.of("cm", 30_000)
    jobs = await lanes.claim(24)
    observer.claimed(jobs)
    assert [job.group for job in jobs].count(A) == 18
    told = await scrape(client)
    assert told.groups("codemojex_group_served_recently_jobs") == {A: 18, B: 6, OTHER: 0}
    assert told.groups("codemojex_group_depth_jobs") == {A: 12, B: 24, OTHER: 0}
    assert told.groups("codemojex_group_in_flight_jobs") == {A: 18, B: 6}
    assert told.groups("codemojex_group_ceiling_jobs") == {A: 20}, "no ceiling, no series"
    assert told.groups("codemojex_group_weight") == {A: 3, B: 1}
    assert told.groups("codemojex_group_due_ratio") == {A: 0.75, B: 0.25, OTHER: 0}
    assert set(told.groups("codemojex_group_oldest_seconds")) == {A, B}
    assert set(told.groups("codemojex_group_unserved_seconds")) == {A, B}
    await lanes.pause(B)
    told = await scrape(client)
    assert told.groups("codemojex_group_due_ratio") == {A: 1, B: 0, OTHER: 0}, "who is paused competes with nobody"
    assert set(told.groups("codemojex_group_unserved_seconds")) == {A}


async def test_two_thousand_rooms_have_as_many_series_as_twenty(
    lanes: Lanes, client: httpx.AsyncClient, meters: Meters
) -> None:
    """Each with two jobs, and a ceiling of its own; every room was served once."""
    counts = []
    for rooms in (range(1, 21), range(21, 2_001)):
        those = [room(number) for number in rooms]
        for at in range(0, len(those), 200):
            await lanes.enqueue_many([Submission(group, new_job(), b"") for group in those[at : at + 200] * 2])
        for group in those:
            await lanes.limit(group, 50)
        await serve(lanes, meters, len(those))
        told = await scrape(client)
        counts.append(told.count)
        served = told.groups("codemojex_group_served_recently_jobs")
        depths = told.groups("codemojex_group_depth_jobs")
        assert len(served) <= 2 * TOP + 1
        assert len(depths) == TOP + 1
        assert sum(depths.values()) == (await lanes.stats()).waiting
        assert sum(served.values()) == told.of("codemojex_jobs_claimed_total", queue="cm")
    assert counts[1] - counts[0] <= TOP, "the most served may be others than the deepest"
    assert max(counts) < 400


async def test_starvation_is_exact_also_for_a_room_that_no_top_shows(
    redis: Redis, lanes: Lanes, client: httpx.AsyncClient
) -> None:
    before_ms = await server_ms(redis)
    small = room(1)
    await fill(lanes, small, 1)
    after_ms = await server_ms(redis)
    for number in range(2, 40):
        await fill(lanes, room(number), 20)
    begun_ms = await server_ms(redis)
    told = await scrape(client)
    ended_ms = await server_ms(redis)
    assert small not in told.groups("codemojex_group_depth_jobs")
    starving_s = told.of("codemojex_queue_starvation_seconds", queue="cm")
    assert starving_s is not None
    assert begun_ms - after_ms <= round(starving_s * 1_000) <= ended_ms - before_ms
    (job,) = await lanes.claim(1)
    assert job.group == small
    calmer_s = (await scrape(client)).of("codemojex_queue_starvation_seconds", queue="cm")
    assert calmer_s is not None
    assert round(calmer_s * 1_000) <= await server_ms(redis) - after_ms


async def test_a_job_s_wait_is_told_from_its_admission_to_its_first_claim(
    redis: Redis, lanes: Lanes, client: httpx.AsyncClient, meters: Meters
) -> None:
    await fill(lanes, A, 3)
    admitted_ms = await server_ms(redis)
    await wait_until(lambda: _later(redis, admitted_ms + 30), "the jobs have waited")
    observer = meters.work.of("cm", 30_000)
    jobs = await lanes.claim(3)
    observer.claimed(jobs)
    await lanes.retry(jobs[0], "broken", 0)
    observer.claimed(await lanes.claim(3))
    told = await scrape(client)
    assert told.of("codemojex_job_wait_seconds_count", queue="cm") == 3, "a second try is no first claim"
    assert told.of("codemojex_job_wait_seconds_bucket", queue="cm", le="0.025") == 0
    total = told.of("codemojex_job_wait_seconds_sum", queue="cm")
    assert total is not None
    assert 0.09 <= total <= 3 * (await server_ms(redis) - admitted_ms + 1_000) / 1_000


async def _later(redis: Redis, ms: int) -> bool:
    return await server_ms(redis) >= ms


async def test_a_scrape_answers_while_redis_is_away(tmp_path: Path, meters: Meters) -> None:
    """Silent, and gone: the process's own counts are there, and no reading that nobody could confirm."""
    meters.game.guessed(new=True)
    with redis_server(tmp_path / "valkey") as server:
        async with (
            Redis.from_url(server.url, socket_timeout=1) as redis,
            page_on(redis, meters, answer_ms=300) as client,
        ):
            lanes = Lanes(redis, "cm")
            await fill(lanes, A, 1)
            assert _up(await scrape(client)) == {"cm": 1, "cm.settle": 1, "cm.notify": 1}
            with _frozen(server):
                told = await scrape(client)
                assert _up(told) == {"cm": 0, "cm.settle": 0, "cm.notify": 0}
                assert told.of("codemojex_guesses_total", outcome="accepted") == 1
                assert told.groups("codemojex_group_depth_jobs") == {}
                assert told.of("codemojex_queue_waiting_jobs", queue="cm") is None
            await wait_until(lambda: _is_up(client), "it is read again", 20_000, 20)
            assert server.pid is not None
            os.kill(server.pid, signal.SIGKILL)
            await wait_until(lambda: server.pid is None, "the server is gone")
            assert _up(await scrape(client)) == {"cm": 0, "cm.settle": 0, "cm.notify": 0}


def _up(told: Scrape) -> dict[str, float]:
    return {labels["queue"]: value for labels, value in told.series("codemojex_queue_up")}


async def _is_up(client: httpx.AsyncClient) -> bool:
    return set(_up(await scrape(client)).values()) == {1}


@contextmanager
def _frozen(server: EmbeddedValkey) -> Iterator[None]:
    assert server.pid is not None
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


async def test_scrapes_at_once_and_soon_after_each_other_share_one_reading(
    redis: Redis, lanes: Lanes, meters: Meters
) -> None:
    await fill(lanes, A, 1)
    async with page_on(redis, meters, fresh_ms=60_000) as client:
        await scrape(client)  # the scripts are loaded
    async with page_on(redis, meters, fresh_ms=60_000) as client:
        before = await _scripts_run(redis)
        told = await asyncio.gather(*(scrape(client) for _ in range(40)))
        told.append(await scrape(client))
        assert await _scripts_run(redis) - before == 2 * 3 + 1, "totals and a page of each queue, one row"
    assert {each.of("codemojex_queue_waiting_jobs", queue="cm") for each in told} == {1}


async def _scripts_run(redis: Redis) -> int:
    commands = await redis.info("commandstats")
    return sum(told["calls"] for name, told in commands.items() if name.startswith(("cmdstat_eval", "cmdstat_fcall")))


async def test_labels_say_nothing_of_people_and_chats(lanes: Lanes, client: httpx.AsyncClient, meters: Meters) -> None:
    await fill(lanes, A, 2)
    await serve(lanes, meters, 2)
    await fill(lanes, B, 2)
    told = await scrape(client)
    for family in told.families:
        for sample in family.samples:
            for label, value in sample.labels.items():
                if label == "group":
                    assert value in {OTHER, A, B}
                elif label == "outcome":
                    assert re.fullmatch("[a-z_]+", value)
                elif label == "le":
                    assert float(value) > 0
                else:
                    assert value in LABELS[label]


async def test_openmetrics_is_spoken_to_who_asks_for_it(lanes: Lanes, client: httpx.AsyncClient) -> None:
    await fill(lanes, A, 1)
    assert (await scrape(client, OPEN)).of("codemojex_queue_waiting_jobs", queue="cm") == 1


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
async def test_the_page_is_only_to_be_read(client: httpx.AsyncClient, method: str) -> None:
    assert (await client.request(method, "/metrics")).status_code == 405


async def test_every_metric_says_what_it_is_and_in_which_unit(client: httpx.AsyncClient) -> None:
    for family in (await scrape(client)).families:
        assert family.documentation, family.name
        if family.name.startswith("codemojex"):
            assert family.documentation.endswith("."), family.name
            assert ("_seconds" in family.name) == ("in seconds" in family.documentation), family.name


def test_two_processes_in_one_interpreter_count_apart() -> None:
    first, second = Meters(), Meters()
    first.game.guessed(new=True)
    one, other = (
        meters.registry.get_sample_value("codemojex_guesses_total", {"outcome": "accepted"})
        for meters in (first, second)
    )
    assert (one, other) == (1, 0)
