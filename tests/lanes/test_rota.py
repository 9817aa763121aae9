"""The rota: turns by weight, counted per visit, whatever the batches."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import cycle

import pytest

from engine.lanes import Lanes
from tests.lanes.naming import ANA, BEN, A, B, C, new_job
from tests.lanes.oracle import Oracle
from tests.lanes.sizes import scaled
from tests.lanes.steps import fill
from tests.lanes.watching import WatchedRedis


async def weighted(lanes: Lanes, group: str, weight: int, count: int, lane: str | None = None) -> None:
    for _ in range(count):
        await lanes.enqueue(group, new_job(), b"", lane=lane, weight=weight)


async def served(lanes: Lanes, *counts: int) -> str:
    """Claim batch by batch, and spell the groups served."""
    names = {A: "A", B: "B", C: "C"}
    return "".join([names[job.group] for count in counts for job in await lanes.claim(count)])


async def test_a_visit_is_worth_as_many_jobs_as_the_group_weighs(lanes: Lanes) -> None:
    await weighted(lanes, A, 3, 9)
    await weighted(lanes, B, 1, 9)
    await weighted(lanes, C, 2, 9)
    assert await served(lanes, 12) == "AAABCCAAABCC"


async def test_a_batch_boundary_does_not_end_a_visit(lanes: Lanes) -> None:
    await weighted(lanes, A, 3, 9)
    await weighted(lanes, B, 2, 9)
    assert await served(lanes, 1, 1, 2, 1, 4, 1) == "AAABBAAABB"


async def test_what_an_empty_lane_cut_off_is_forfeited(lanes: Lanes) -> None:
    await weighted(lanes, A, 5, 2)
    await weighted(lanes, B, 1, 9)
    assert await served(lanes, 3) == "AAB"
    await weighted(lanes, A, 5, 9)
    assert await served(lanes, 7) == "BAAAAAB"


async def test_what_a_ceiling_cut_off_is_forfeited(lanes: Lanes) -> None:
    await weighted(lanes, A, 3, 20)
    await weighted(lanes, B, 1, 20)
    await lanes.limit(A, 2)
    jobs = await lanes.claim(3)
    assert [job.group for job in jobs] == [A, A, B]
    await lanes.complete(jobs)
    await lanes.limit(A, None)
    assert await served(lanes, 5) == "BAAAB"


async def test_a_weight_stamped_at_admission_goes_with_the_backlog(lanes: Lanes, oracle: Oracle) -> None:
    await weighted(lanes, A, 3, 1)
    await lanes.complete(await lanes.claim())
    assert (await oracle.look()).groups == set()
    await fill(lanes, A, 4)
    await fill(lanes, B, 4)
    assert await served(lanes, 4) == "ABAB"


async def test_lanes_inside_a_weighted_group_still_take_turns(lanes: Lanes) -> None:
    await weighted(lanes, A, 3, 6, lane=ANA)
    await weighted(lanes, A, 3, 6, lane=BEN)
    await fill(lanes, B, 2)
    assert [job.lane for job in await lanes.claim(8) if job.group == A] == [ANA, BEN, ANA, BEN, ANA, BEN]


@pytest.mark.parametrize("weight", [0, -1])
async def test_a_weight_is_at_least_one(lanes: Lanes, weight: int) -> None:
    with pytest.raises(ValueError, match="weight"):
        await lanes.enqueue(A, new_job(), b"", weight=weight)
    assert await lanes.depth(A) == 0


SERVED = scaled(600, 6_000)


@pytest.mark.case("L14")
@pytest.mark.parametrize("counts", [(1,), (7,), (64,), (1, 7, 64)])
async def test_shares_follow_weights_whatever_the_batches(
    lanes: Lanes, redis: WatchedRedis, counts: tuple[int, ...]
) -> None:
    with redis.unwatched():
        for group, weight in ((A, 8), (B, 3), (C, 1)):
            await weighted(lanes, group, weight, 1)
            await fill(lanes, group, SERVED * 2 // 3)
        share: Counter[str] = Counter()
        for count in cycle(counts):
            share.update(job.group for job in await lanes.claim(min(count, SERVED - share.total())))
            if share.total() == SERVED:
                break
    assert share == {A: SERVED * 8 // 12, B: SERVED * 3 // 12, C: SERVED // 12}


@pytest.mark.case("L14")
async def test_shares_follow_weights_that_change_half_way_under_two_workers(lanes: Lanes, redis: WatchedRedis) -> None:
    with redis.unwatched():
        for group, weight in ((A, 8), (B, 3), (C, 1)):
            await lanes.weight(group, weight)
            await fill(lanes, group, SERVED)
        halves: list[Counter[str]] = []
        for _ in range(2):
            share: Counter[str] = Counter()
            halves.append(share)

            async def work(count: int, share: Counter[str]) -> None:
                while (left := SERVED // 2 - share.total()) > 0:
                    # Counted before it is sent, or the two would take more than half between them.
                    share["asked"] += min(count, left)
                    jobs = await lanes.claim(min(count, left))
                    share["asked"] -= len(jobs)
                    share.update(job.group for job in jobs)

            await asyncio.gather(work(7, share), work(64, share))
            await lanes.weight(A, 1)
            await lanes.weight(C, 8)
    first, second = halves
    for share, ratios in ((first, (8, 3, 1)), (second, (1, 3, 8))):
        for group, ratio in zip((A, B, C), ratios, strict=True):
            assert share[group] == pytest.approx(SERVED / 2 * ratio / 12, abs=max(8, SERVED * 0.005))
