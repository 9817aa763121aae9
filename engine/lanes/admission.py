"""Admission: how jobs come in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from engine import ids
from engine.lanes import bounds
from engine.lanes.errors import ADMISSIONS, Admission, BadArgument, QueueFull
from engine.lanes.gathering import Gathering
from engine.lanes.queue import Queue

DAY_MS: Final = 86_400_000
PORTION: Final = 1_000
PORTION_BYTES: Final = 4 * 1024 * 1024

_Words = tuple[str, bytes, bytes]
_Reply = int | list[int]
"""A code; of a full group or lane its code, depth, cap and ETA in ms."""


@dataclass(frozen=True, slots=True)
class Submission:
    """One job to hand in: the arguments of `enqueue`, under the same names."""

    group: str
    job_id: str
    payload: bytes
    lane: str | None = None
    delay_ms: int = 0
    dedup: str | bytes | None = None
    dedup_ms: int = DAY_MS
    weight: int | None = None


class Admitting(Queue):
    """The verbs that bring jobs in."""

    async def enqueue(  # noqa: PLR0917 - the design binds names and order
        self,
        group: str,
        job_id: str,
        payload: bytes,
        lane: str | None = None,
        delay_ms: int = 0,
        dedup: str | bytes | None = None,
        dedup_ms: int = DAY_MS,
        weight: int | None = None,
    ) -> Admission:
        """Admit one job: it gets the next ``seq`` and waits in its lane, or until it is due. Safe to repeat.

        Args:
            group: the tenant, a branded id.
            job_id: names the job for as long as it lives (waits, is leased or dead).
            payload: at most 64 KiB.
            lane: the FIFO inside the group, a branded id; left out, the group itself.
            delay_ms: 0 to 366 days.
            dedup: refused while remembered, whatever the job's id.
            dedup_ms: how long it is remembered, 1 ms to 366 days.
            weight: jobs the group is worth per visit of the rota, until its backlog is gone or `weight` says else.

        Calls that are awaited in one tick of the event loop share a round trip.

        Raises:
            QueueFull: a cap of the group or the lane is reached; a known job or dedup key is a duplicate even then.
            NotReplicated: it is admitted, but the replicas that the queue asks for don't have it yet; admit it again.
            BadId, BadArgument: an argument is ill-formed; nothing was sent.
        """
        words = self._words(Submission(group, job_id, payload, lane, delay_ms, dedup, dedup_ms, weight))
        return _admission(await self._gathered(words))

    async def enqueue_many(
        self, admissions: Iterable[Submission | Mapping[str, Any] | tuple[Any, ...]]
    ) -> list[Admission]:
        """Admit many jobs in one round trip, each as `enqueue` would, but for answering `full` where that would raise.

        Args:
            admissions: `Submission`s; mappings of its fields and tuples in its order will do.

        Raises:
            BadId, BadArgument: one of them is ill-formed; nothing was sent.
            redis.exceptions.RedisError: one of them could not be admitted; others may have been.
        """
        replies = await self._admit([self._words(_submission(admission)) for admission in admissions])
        return [ADMISSIONS[_code(reply)] for reply in replies]

    @cached_property
    def _gathered(self) -> Gathering[_Words, _Reply]:
        return Gathering(self._admit)

    async def _admit(self, jobs: Sequence[_Words]) -> list[_Reply | Exception]:
        """Admit jobs in portions that leave the server time for others; an error answers for each it kept out."""
        portions: list[list[str | bytes | int]] = []
        counts: list[int] = []
        size = PORTION_BYTES
        for words in jobs:
            if size >= PORTION_BYTES or counts[-1] == PORTION:
                portions.append([])
                counts.append(0)
                size = 0
            portions[-1] += words
            counts[-1] += 1
            size += len(words[1])
        replies: list[_Reply | Exception] = []
        for count, reply in zip(
            counts, await self._transport.run_many("enqueue", portions, replicated=True), strict=True
        ):
            replies += [reply] * count if isinstance(reply, Exception) else reply
        return replies

    def _words(self, job: Submission) -> _Words:
        group = self._group(job.group)
        lane = group if job.lane is None else ids.check(job.lane, argument="lane")
        ticket = self._job_id(job.job_id) + group + lane
        payload = bounds.raw("payload", job.payload, bounds.MAX_PAYLOAD)
        delay_ms = bounds.ms("delay_ms", job.delay_ms, 0, bounds.MAX_DELAY_MS)
        dedup_ms = bounds.ms("dedup_ms", job.dedup_ms, 1, bounds.MAX_DELAY_MS)
        if job.dedup is None and job.weight is None and not delay_ms:
            return ticket, payload, b""
        weight, dedup = bounds.lever("weight", job.weight), bounds.dedup_key(job.dedup)
        return ticket, payload, b"%d %d %d %b" % (delay_ms, weight, dedup_ms, dedup)


def _submission(admission: Submission | Mapping[str, Any] | tuple[Any, ...]) -> Submission:
    if isinstance(admission, Submission):
        return admission
    try:
        if isinstance(admission, Mapping):
            return Submission(**admission)
        return Submission(*admission)
    except TypeError as error:
        raise BadArgument("admissions", admission, f"made of enqueue's arguments ({error})") from error


def _admission(reply: _Reply) -> Admission:
    if isinstance(reply, int):
        return ADMISSIONS[reply]
    _, depth, cap, eta_ms = reply
    raise QueueFull(depth, cap, eta_ms)


def _code(reply: _Reply | Exception) -> int:
    if isinstance(reply, Exception):
        raise reply
    return reply if isinstance(reply, int) else reply[0]
