"""Admission: how jobs come in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine import ids
from engine.lanes import bounds
from engine.lanes.errors import ADMISSIONS, Admission, BadArgument
from engine.lanes.queue import Queue

DAY_MS: Final = 86_400_000
PORTION: Final = 5_000
PORTION_BYTES: Final = 16 * 1024 * 1024


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

        Raises:
            BadId, BadArgument: an argument is ill-formed; nothing was sent.
        """
        return (await self.enqueue_many([Submission(group, job_id, payload, lane, delay_ms, dedup, dedup_ms, weight)]))[
            0
        ]

    async def enqueue_many(
        self, admissions: Iterable[Submission | Mapping[str, Any] | tuple[Any, ...]]
    ) -> list[Admission]:
        """Admit many jobs in one round trip (a very long list in several), each as `enqueue` would.

        Args:
            admissions: `Submission`s; mappings of its fields and tuples in its order will do.

        Raises:
            BadId, BadArgument: one of them is ill-formed; nothing was sent.
        """
        verdicts: list[Admission] = []
        args: list[str | bytes | int] = []
        size = 0
        portions = []
        for admission in admissions:
            words = self._words(_submission(admission))
            if args and (len(args) >= 6 * PORTION or size >= PORTION_BYTES):
                portions.append(args)
                args, size = [], 0
            args += words
            size += len(words[1])
        if args:
            portions.append(args)
        for portion in portions:
            verdicts += [ADMISSIONS[code] for code in await self._transport.run("enqueue", *portion)]
        return verdicts

    def _words(self, job: Submission) -> tuple[str, bytes, int, bytes, int, int]:
        group = self._group(job.group)
        lane = group if job.lane is None else ids.check(job.lane, argument="lane")
        return (
            self._job_id(job.job_id) + group + lane,
            bounds.raw("payload", job.payload, bounds.MAX_PAYLOAD),
            bounds.ms("delay_ms", job.delay_ms, 0, bounds.MAX_DELAY_MS),
            bounds.dedup_key(job.dedup),
            bounds.ms("dedup_ms", job.dedup_ms, 1, bounds.MAX_DELAY_MS),
            bounds.lever("weight", job.weight),
        )


def _submission(admission: Submission | Mapping[str, Any] | tuple[Any, ...]) -> Submission:
    if isinstance(admission, Submission):
        return admission
    try:
        if isinstance(admission, Mapping):
            return Submission(**admission)
        return Submission(*admission)
    except TypeError as error:
        raise BadArgument("admissions", admission, f"made of enqueue's arguments ({error})") from error
