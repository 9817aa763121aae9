"""The cap of a group against every way in: whether it asks, whether it counts, and all of them at the same instant."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import pytest

from engine.lanes import Admission, Job, Lanes, QueueFull, Reassignment, Submission, Verdict
from tests.lanes.naming import ANA, A, B, new_job
from tests.lanes.sizes import scaled
from tests.lanes.steps import fill, settle_all
from tests.lanes.travelling import travel
from tests.lanes.watching import WatchedRedis

PRODUCERS = 64
CAP = 40
HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Way:
    """How a job comes to group A.

    ``asks`` whether there is room, and is refused where there is none; ``counts`` for those that ask after it, one more
    than before; ``come`` answers whether it came in.
    """

    asks: bool
    counts: bool
    come: Callable[[Ready], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Ready:
    """A job of A in every place that one may come from; beside them B has one waiting."""

    lanes: Lanes
    leased: Job
    lapsed: Job
    dead: str
    due: str
    waiting: str
    elsewhere: str

    async def admit(self, job_id: str, delay_ms: int = 0) -> bool:
        try:
            return await self.lanes.enqueue(A, job_id, b"", delay_ms=delay_ms) is not Admission.duplicate
        except QueueFull:
            return False

    async def admit_many(self) -> bool:
        return await self.lanes.enqueue_many([Submission(A, new_job(), b"")]) == [Admission.enqueued]

    async def move(self, job_id: str) -> bool:
        return await self.lanes.reassign(job_id, A, ANA) is Reassignment.reassigned

    async def retry(self, delay_ms: int) -> bool:
        return await self.lanes.retry(self.leased, "broken", delay_ms) is Verdict.ok

    async def release(self) -> bool:
        return await self.lanes.release([self.leased]) == [Verdict.ok]

    async def reap(self, *, of_group: bool) -> bool:
        return await (self.lanes.reap_group(A) if of_group else self.lanes.reap()) == 1

    async def promote(self) -> bool:
        return await self.lanes.promote() == 1

    async def redrive(self) -> bool:
        return await self.lanes.redrive(job_id=self.dead) == 1


WAYS: Final = {
    "enqueue": Way(True, True, lambda ready: ready.admit(new_job())),
    "enqueue, delayed": Way(True, True, lambda ready: ready.admit(new_job(), HOUR_MS)),
    "enqueue_many": Way(True, True, Ready.admit_many),
    "reassign from another group": Way(True, True, lambda ready: ready.move(ready.elsewhere)),
    "redrive": Way(True, True, Ready.redrive),
    "reassign from another lane": Way(False, False, lambda ready: ready.move(ready.waiting)),
    "a delayed job comes due": Way(False, False, Ready.promote),
    "retry": Way(False, True, lambda ready: ready.retry(0)),
    "retry later": Way(False, True, lambda ready: ready.retry(HOUR_MS)),
    "release": Way(False, True, Ready.release),
    "reap": Way(False, True, lambda ready: ready.reap(of_group=False)),
    "reap_group": Way(False, True, lambda ready: ready.reap(of_group=True)),
}
"""Every way in. What was in the backlog already counts once; what comes back from a worker is never refused."""
COUNTED: Final = ("enqueue", "enqueue_many", "delayed", "reassign", "redrive")
"""Those that a cap binds, as they race below."""


async def readied(redis: WatchedRedis) -> Ready:
    lanes, impatient = Lanes(redis, "cm", max_attempts=None), Lanes(redis, "cm", max_attempts=1)
    (elsewhere,) = await fill(lanes, B, 1)
    await lanes.pause(B)
    await fill(lanes, A, 3)
    dead, leased = await lanes.claim(2, 3 * HOUR_MS)
    (lapsed,) = await lanes.claim(1, HOUR_MS)
    assert await impatient.retry(dead, "broken") is Verdict.dead
    due = new_job()
    await lanes.enqueue(A, due, b"", delay_ms=HOUR_MS)
    await travel(redis, HOUR_MS)
    (waiting,) = await fill(lanes, A, 1)
    return Ready(lanes, leased, lapsed, dead.id, due, waiting, elsewhere)


@pytest.mark.case("L19")
@pytest.mark.parametrize("room", [0, 1])
@pytest.mark.parametrize("way", WAYS)
async def test_each_way_in_asks_for_room_and_counts_as_it_says(redis: WatchedRedis, way: str, room: int) -> None:
    ready = await readied(redis)
    lanes, depth = ready.lanes, await ready.lanes.depth(A)
    assert depth == 2  # one that is due, one that waits
    await lanes.cap(A, depth=depth + room)
    came = await WAYS[way].come(ready)
    assert came is (room > 0 or not WAYS[way].asks)
    after = depth + (came and WAYS[way].counts)
    assert await lanes.depth(A) == after
    assert await ready.admit(new_job()) is (after < depth + room)


@pytest.mark.case("L19")
@pytest.mark.parametrize("where", ["leased", "dead", "due", "waiting"])
async def test_a_duplicate_neither_counts_nor_is_refused_wherever_the_first_one_is(
    redis: WatchedRedis, where: str
) -> None:
    ready = await readied(redis)
    job_id = ready.leased.id if where == "leased" else getattr(ready, where)
    await ready.lanes.cap(A, depth=2)
    assert await ready.lanes.enqueue(A, job_id, b"") is Admission.duplicate
    assert await ready.lanes.enqueue_many([Submission(A, job_id, b"")]) == [Admission.duplicate]
    assert await ready.lanes.depth(A) == 2


async def enter(lanes: Lanes, way: str, spare: dict[str, list[str]]) -> int:
    """Try to bring one job into A, and answer how many it brought."""
    match way:
        case "enqueue" | "delayed":
            try:
                await lanes.enqueue(A, new_job(), b"", delay_ms=HOUR_MS if way == "delayed" else 0)
            except QueueFull:
                return 0
            return 1
        case "enqueue_many":
            jobs = [Submission(A, new_job(), b"") for _ in range(3)]
            return (await lanes.enqueue_many(jobs)).count(Admission.enqueued)
        case "reassign":
            return int(await lanes.reassign(spare["elsewhere"].pop(), A) == "reassigned")
        case _:
            return await lanes.redrive(job_id=spare["dead"].pop())


async def come_back(lanes: Lanes, job: Job, number: int) -> int:
    """Give a leased job of A back."""
    if number % 2:
        assert await lanes.retry(job, "broken", 0) == "ok"
    else:
        assert await lanes.release([job]) == ["ok"]
    return 1


@pytest.mark.case("L19")
@pytest.mark.parametrize("attempt", range(scaled(3, 100)))
async def test_every_way_in_at_once_fills_a_group_to_its_cap_and_what_comes_back_comes_on_top(
    redis: WatchedRedis, attempt: int
) -> None:
    lanes = Lanes(redis, "cm", max_attempts=None)
    spare = {"dead": await fill(lanes, A, PRODUCERS), "elsewhere": []}
    with redis.unwatched():
        impatient = Lanes(redis, "cm", max_attempts=1)
        await asyncio.gather(*(impatient.retry(job, "broken") for job in await lanes.claim(PRODUCERS)))
        spare["elsewhere"] = await fill(lanes, B, PRODUCERS)
        await lanes.enqueue_many([Submission(A, new_job(), b"", delay_ms=HOUR_MS) for _ in range(5)])
        await lanes.pause(B)
        await fill(lanes, A, 10)
        leased = await lanes.claim(10, HOUR_MS)
        await fill(lanes, A, CAP - 6)
        await travel(redis, HOUR_MS)  # five are due, and the leases have lapsed
        await lanes.extend(leased[:6], HOUR_MS)
        await lanes.cap(A, depth=CAP)
        assert await lanes.depth(A) == CAP - 1
        ways = [enter(lanes, COUNTED[number % len(COUNTED)], spare) for number in range(PRODUCERS)]
        back = [come_back(lanes, job, number) for number, job in enumerate(leased[:6])]
        work = [*ways, *back]
        turned = work[attempt % len(work) :] + work[: attempt % len(work)]
        reaping, promoting, *brought = await asyncio.gather(lanes.reap(), lanes.promote(), *turned)
        assert (reaping, promoting) == (4, 5)
        came_in = sum(brought) - len(back)
        # Whoever came first may have met room for one, or the cap passed by what came back already.
        assert came_in <= 1
        assert await lanes.depth(A) == CAP - 1 + came_in + len(back) + reaping
        with pytest.raises(QueueFull):
            await lanes.enqueue(A, new_job(), b"")
        await lanes.cap(A)
        await travel(redis, HOUR_MS)
        await lanes.promote(1_000)
        await lanes.drain(B)
        await settle_all(lanes)
        assert await lanes.depth(A) == 0
