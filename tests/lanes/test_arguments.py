"""Arguments out of bounds are refused with what, where and what is wanted, before anything is sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
from redis.asyncio import Redis

from engine.lanes import BadArgument, BadId, Job, Lanes, LanesError, Submission
from engine.lanes.keys import Keys
from tests.lanes.naming import A, new_job

JOB = Job(id=new_job(), group=A, lane=A, payload=b"", attempts=1, token=1, seq=1, enqueued_ms=1, lease_until_ms=1)
HOUR_MS = 3_600_000
YEARS_MS = 10 * 366 * 24 * HOUR_MS

Call = Callable[[Lanes], Awaitable[object]]


def anything(value: object) -> Any:
    """What a caller without a type checker might pass."""
    return cast("Any", value)


CALLS: dict[str, Call] = {
    "payload: text": lambda lanes: lanes.enqueue(A, new_job(), anything("text")),
    "payload: none": lambda lanes: lanes.enqueue(A, new_job(), anything(None)),
    "payload: too long": lambda lanes: lanes.enqueue(A, new_job(), b"x" * 64 * 1024 + b"x"),
    "delay_ms: negative": lambda lanes: lanes.enqueue(A, new_job(), b"", delay_ms=-1),
    "delay_ms: fraction": lambda lanes: lanes.enqueue(A, new_job(), b"", delay_ms=anything(1.5)),
    "delay_ms: years": lambda lanes: lanes.enqueue(A, new_job(), b"", delay_ms=YEARS_MS),
    "dedup: empty": lambda lanes: lanes.enqueue(A, new_job(), b"", dedup=""),
    "dedup: too long": lambda lanes: lanes.enqueue(A, new_job(), b"", dedup="x" * 513),
    "dedup_ms: nought": lambda lanes: lanes.enqueue(A, new_job(), b"", dedup="x", dedup_ms=0),
    "weight: nought": lambda lanes: lanes.enqueue(A, new_job(), b"", weight=0),
    "weight: a truth": lambda lanes: lanes.enqueue(A, new_job(), b"", weight=True),
    "admissions: no admission": lambda lanes: lanes.enqueue_many([anything((A,))]),
    "weight: in bulk": lambda lanes: lanes.enqueue_many([Submission(A, new_job(), b"", weight=0)]),
    "count: nought": lambda lanes: lanes.claim(0),
    "count: too many": lambda lanes: lanes.claim(10_001),
    "count: nought of a group": lambda lanes: lanes.claim_group(0),
    "lease_ms: nought": lambda lanes: lanes.claim(1, 0),
    "lease_ms: over a day": lambda lanes: lanes.extend([JOB], 24 * HOUR_MS + 1),
    "jobs: an id": lambda lanes: lanes.complete([anything(JOB.id)]),
    "jobs: no job to retry": lambda lanes: lanes.retry(anything(JOB.id), "broken"),
    "cooldown_ms: negative": lambda lanes: lanes.complete([JOB], cooldown_ms=-1),
    "delay_ms: negative retry": lambda lanes: lanes.retry(JOB, "broken", delay_ms=-1),
    "limit: nothing to reap": lambda lanes: lanes.reap(0),
    "limit: nothing to promote": lambda lanes: lanes.promote(0),
    "timeout_ms: negative": lambda lanes: lanes.wait(-1),
    "n: nought": lambda lanes: lanes.limit(A, 0),
    "w: nought": lambda lanes: lanes.weight(A, 0),
    "ms: nought": lambda lanes: lanes.hold(A, 0),
}


@pytest.mark.parametrize(("case", "call"), CALLS.items(), ids=CALLS)
async def test_an_argument_out_of_bounds_is_named_and_nothing_is_sent(deaf: Lanes, case: str, call: Call) -> None:
    with pytest.raises(BadArgument) as raised:
        await call(deaf)
    assert str(raised.value).startswith(f"{case.partition(':')[0]} must be ")
    assert len(str(raised.value)) < 250
    assert isinstance(raised.value, LanesError)
    assert isinstance(raised.value, ValueError)


@pytest.mark.case("L27")
@pytest.mark.parametrize("queue", ["", "*", "{cm}", "a}b", "a:b", "a b", "a\x00", "x" * 65, "Ü", None, b"cm"])
def test_a_queues_name_cannot_break_out_of_its_keys(redis: Redis, queue: str) -> None:
    with pytest.raises(BadArgument, match="queue"):
        Lanes(redis, queue)


@pytest.mark.parametrize("queue", ["cm", "cm.settle", "cm.notify", "cm.0"])
def test_all_keys_of_a_queue_share_its_hash_tag(queue: str) -> None:
    assert Keys(queue).base == f"emq:{{{queue}}}:"


@pytest.mark.parametrize("max_attempts", [0, -1, True, 1.5])
def test_a_number_of_attempts_is_whole_and_at_least_one(redis: Redis, max_attempts: int) -> None:
    with pytest.raises(BadArgument, match="max_attempts"):
        Lanes(redis, "cm", max_attempts=max_attempts)


def test_a_kind_of_job_is_three_capitals(redis: Redis) -> None:
    with pytest.raises(BadId):
        Lanes(redis, "cm", job_kind="job")


async def test_a_client_that_decodes_replies_is_refused(redis_url: str) -> None:
    async with Redis.from_url(redis_url, decode_responses=True) as client:
        with pytest.raises(BadArgument, match="decode_responses=False"):
            Lanes(client, "cm")
