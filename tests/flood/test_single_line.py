"""The line that floods are compared with: first come, first served, whoever they are."""

from __future__ import annotations

from redis.asyncio import Redis

from bot.flood.single_line import SingleLine
from engine.ids import JOB, PLAYER, ROOM, Minter
from engine.lanes import Admission, Verdict

MINT = Minter(1).mint


async def test_jobs_come_out_as_they_came_in_with_their_groups_and_lanes(redis: Redis) -> None:
    line = SingleLine(redis, "line")
    sent = [(MINT(ROOM), MINT(PLAYER), MINT(JOB)) for _ in range(5)]
    for group, lane, job_id in sent:
        assert await line.enqueue(group, job_id, b"payload", lane=lane) is Admission.enqueued
    jobs = await line.claim(10)
    assert [(job.group, job.lane, job.id) for job in jobs] == sent
    assert {job.payload for job in jobs} == {b"payload"}
    assert await line.complete(jobs) == [Verdict.ok] * 5


async def test_a_job_given_back_keeps_its_place(redis: Redis) -> None:
    line = SingleLine(redis, "line")
    first, second = MINT(JOB), MINT(JOB)
    room = MINT(ROOM)
    await line.enqueue(room, first, b"")
    await line.enqueue(room, second, b"")
    (job,) = await line.claim(1)
    assert await line.extend([job], 60_000) == [Verdict.ok]
    assert await line.release([job]) == [Verdict.ok]
    verdicts, jobs = await line.exchange([], 2)
    assert (verdicts, [each.id for each in jobs]) == ([], [first, second])
    assert await line.retry(jobs[0], "no", delay_ms=0) is Verdict.ok
    assert await line.depth(room) == 1


async def test_levers_of_a_group_bind_nobody(redis: Redis) -> None:
    line = SingleLine(redis, "line")
    room = MINT(ROOM)
    await line.limit(room, 1)
    await line.cap(room, 1)
    for _ in range(3):
        await line.enqueue(room, MINT(JOB), b"", weight=3)
    assert len(await line.claim(3)) == 3
    assert await line.oldest(room) is not None
