"""Jobs as Python sees them, and the byte layouts that `lua/include/entry.lua` shares.

record: group 14, seq 16 digits, lane 14, enqueued_ms 6 bytes, attempts 2 bytes, payload; after a failure the highest
bit of attempts is set, and the error and its length (2 bytes) follow the payload.
entry: group 14, seq 16 digits, lane 14, job id 14, then what its kind adds; a lease adds its token (16 digits) and
its attempts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

LEASE_MS: Final = 30_000
"""How long a job may run if its worker does not say."""
MAX_ATTEMPTS: Final = (1 << 15) - 1
_HEADER: Final = 52


@dataclass(frozen=True, slots=True)
class Job:
    """A job that this caller has leased."""

    id: str
    group: str
    lane: str
    payload: bytes
    attempts: int
    """Claims so far, this one included."""
    token: int
    """Fencing token: larger at every claim of the queue."""
    seq: int
    """Its place in the queue's order of admission."""
    enqueued_ms: int
    lease_until_ms: int
    lease: str = field(init=False, repr=False, compare=False)
    """The entry that stands for this very lease in Redis: all that a settlement needs."""

    def __post_init__(self) -> None:
        lease = f"{self.group}{self.seq:016d}{self.lane}{self.id}{self.token:016d}{self.attempts}"
        object.__setattr__(self, "lease", lease)


class State(StrEnum):
    """Where a living job is; it is in exactly one of these."""

    waiting = "waiting"
    """In its lane."""
    scheduled = "scheduled"
    """Not due yet."""
    leased = "leased"
    """Being run, or its lease has lapsed and nobody has looked yet."""
    dead = "dead"
    """Given up; it waits for a redrive."""


STATES: Final = {1: State.waiting, 2: State.scheduled, 3: State.leased, 4: State.dead}
CODES: Final = {state: code for code, state in STATES.items()}


@dataclass(frozen=True, slots=True)
class Record:
    """What the queue knows of a job, whoever has it."""

    id: str
    group: str
    lane: str
    payload: bytes
    attempts: int
    seq: int
    enqueued_ms: int
    state: State
    at_ms: int
    """When it is due (scheduled), its lease ends (leased) or it was given up (dead); 0 while it waits."""
    error: str
    """What the last failure left, or empty."""


def jobs_of(reply: Sequence[Any]) -> list[Job]:
    """Read a claim's reply ``until_ms, token, id, record, id, record, ...``."""
    until_ms, first = reply[0], reply[1]
    jobs = []
    for number in range((len(reply) - 2) // 2):
        name, record = reply[2 * number + 2], reply[2 * number + 3]
        place = record[:44].decode("ascii")
        jobs.append(
            Job(
                id=name.decode("ascii"),
                group=place[:14],
                lane=place[30:],
                payload=_payload(record)[0],
                attempts=min(int.from_bytes(record[50:52], "big") % (1 << 15) + 1, MAX_ATTEMPTS),
                token=first + number,
                seq=int(place[14:30]),
                enqueued_ms=int.from_bytes(record[44:50], "big"),
                lease_until_ms=until_ms,
            )
        )
    return jobs


def record_of(job_id: str, reply: Sequence[Any]) -> Record:
    """Read the reply ``state, at_ms, attempts, record`` about one job."""
    state, at_ms, attempts, record = reply
    place = record[:44].decode("ascii")
    payload, error = _payload(record)
    return Record(
        id=job_id,
        group=place[:14],
        lane=place[30:],
        payload=payload,
        attempts=attempts,
        seq=int(place[14:30]),
        enqueued_ms=int.from_bytes(record[44:50], "big"),
        state=STATES[state],
        at_ms=at_ms,
        error=error.decode("utf-8", "replace"),
    )


def _payload(record: bytes) -> tuple[bytes, bytes]:
    """Split payload and last error."""
    if record[50] < 128:
        return record[_HEADER:], b""
    end = len(record) - 2 - int.from_bytes(record[-2:], "big")
    return record[_HEADER:end], record[end:-2]
