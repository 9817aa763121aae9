"""Loads: the groups, jobs and payloads that every side is given."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Final

from bot.redis_server import open_redis
from engine.ids import JOB, PLAYER, ROOM, brand
from engine.lanes import Admission, Lanes, Submission

PAYLOAD: Final = b"x" * 64
AT_ONCE: Final = 1_000


def groups(count: int, first: int = 0) -> list[str]:
    """Names of ``count`` groups."""
    return [brand(ROOM, number) for number in range(first, first + count)]


def jobs(count: int, among: int, first: int = 0, first_group: int = 0) -> Iterator[Submission]:
    """``count`` jobs, dealt out in turn among so many groups; ``first`` is the first one's number."""
    names = groups(among, first_group)
    for number in range(first, first + count):
        yield Submission(group=names[number % among], job_id=brand(JOB, number), payload=PAYLOAD)


def in_lanes(count: int, a_lane: int, lanes_a_group: int = 10) -> Iterator[Submission]:
    """``count`` jobs, so many in each lane."""
    for number in range(count):
        lane = number // a_lane
        yield Submission(
            group=brand(ROOM, lane // lanes_a_group),
            job_id=brand(JOB, number),
            payload=PAYLOAD,
            lane=brand(PLAYER, lane),
        )


async def fill(lanes: Lanes, load: Iterable[Submission]) -> int:
    """Hand all of them in, and answer how many that were.

    Raises:
        RuntimeError: one of them was refused.
    """
    portion: list[Submission] = []
    count = 0
    for job in load:
        portion.append(job)
        if len(portion) == AT_ONCE:
            count += await _hand_in(lanes, portion)
            portion = []
    return count + await _hand_in(lanes, portion)


def fill_at(url: str, load: Iterable[Submission]) -> None:
    """`fill` the queue ``bench`` of a server, where nothing asynchronous is going on."""

    async def now() -> None:
        async with open_redis(url) as redis:
            await fill(Lanes(redis, "bench"), load)

    asyncio.run(now())


async def _hand_in(lanes: Lanes, portion: list[Submission]) -> int:
    answers = await lanes.enqueue_many(portion)
    if any(answer is not Admission.enqueued for answer in answers):
        raise RuntimeError(f"a job was refused: {next(it for it in answers if it is not Admission.enqueued)}")
    return len(answers)
