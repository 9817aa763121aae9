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


# A frozen class's own way to fill itself takes three times as long, for each job that is claimed.
_blank: Final = object.__new__
_set_id, _set_group, _set_lane, _set_payload, _set_attempts, _set_token, _set_seq, *_set_others = (
    Job.__dict__[name].__set__ for name in Job.__slots__
)
_set_enqueued_ms, _set_lease_until_ms, _set_lease = _set_others


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
    until_ms, token = reply[0], reply[1]
    jobs = []
    for name, record in zip(reply[2::2], reply[3::2], strict=True):
        job_id, place = name.decode("ascii"), record[:44].decode("ascii")
        failures = int.from_bytes(record[50:52], "big")
        attempts = 1 if not failures else min(failures % (1 << 15) + 1, MAX_ATTEMPTS)
        job = _blank(Job)
        _set_id(job, job_id)
        _set_group(job, place[:14])
        _set_lane(job, place[30:])
        _set_payload(job, record[_HEADER:] if failures < 1 << 15 else _payload(record)[0])
        _set_attempts(job, attempts)
        _set_token(job, token)
        _set_seq(job, int(place[14:30]))
        _set_enqueued_ms(job, int.from_bytes(record[44:50], "big"))
        _set_lease_until_ms(job, until_ms)
        _set_lease(job, f"{place}{job_id}{token:016d}{attempts}")
        jobs.append(job)
        token += 1
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
