"""What each job went through, by the word of those who did it: written before a step that may fail, and after it.

A process may be killed between any two lines, so the ledger tells for each job what must and what may have happened.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from typing import Any, Final, cast

from redis.asyncio import Redis

from tests.lanes.state import State
from tests.soak.ground import DOOMED

_HANDED: Final = "soak:handed"
_ADMITTED: Final = "soak:admitted"
_COMPLETING: Final = "soak:completing"
_DONE: Final = "soak:done"
_BREACHES: Final = "soak:breaches"
_TALLY: Final = "soak:tally"


@dataclass(frozen=True, slots=True)
class Entries:
    """The ledger at one instant."""

    handed: frozenset[str]
    """Somebody tried to admit these."""
    admitted: frozenset[str]
    """The admission answered."""
    completing: frozenset[str]
    """Somebody tried to complete these."""
    done: dict[str, int]
    """How often the completion answered ok."""

    def breaches(self, state: State) -> list[str]:
        """Say what cannot be, given what is in the queue while nobody works."""
        living = set(state.records)
        lost = self.admitted - living - self.completing - self.done.keys()
        twice = {job for job, times in self.done.items() if times > 1}
        risen = {job for job in self.done if job in living}
        strangers = (living | self.done.keys()) - self.handed
        told = (("lost", lost), ("done twice", twice), ("done and still there", risen), ("of nobody", strangers))
        return [f"{len(jobs)} jobs are {what}: {sorted(jobs)[:3]}" for what, jobs in told if jobs]


class Ledger:
    """Written by every process, in keys of its own beside the queue's."""

    def __init__(self, redis: Redis) -> None:
        self._redis: Any = redis  # redis-py types one signature for both of its clients

    async def hand_in(self, jobs: Iterable[str]) -> None:
        """Note jobs that are about to be admitted."""
        await self._redis.sadd(_HANDED, *jobs)

    async def admit(self, jobs: Iterable[tuple[str, str]]) -> None:
        """Note jobs (and their groups) whose admission answered; those of the doomed may vanish."""
        if kept := [job for job, group in jobs if group not in DOOMED]:
            await self._redis.sadd(_ADMITTED, *kept)

    async def complete(self, jobs: Iterable[str]) -> None:
        """Note jobs that are about to be completed."""
        await self._redis.sadd(_COMPLETING, *jobs)

    async def done(self, jobs: Iterable[str]) -> None:
        """Note jobs whose completion answered ok."""
        for job in jobs:
            await self._redis.hincrby(_DONE, job, 1)

    async def count(self, what: str, times: int = 1) -> None:
        """Add to the tally that the summary shows."""
        await self._redis.hincrby(_TALLY, what, times)

    async def breach(self, what: str) -> None:
        """Tell of something that must not be."""
        await self._redis.rpush(_BREACHES, what)

    async def breached(self) -> list[str]:
        """What was told so far."""
        told = await cast("Awaitable[list[bytes]]", self._redis.lrange(_BREACHES, 0, -1))
        return [line.decode() for line in told]

    async def tally(self) -> dict[str, int]:
        """What was counted so far."""
        counts = await cast("Awaitable[dict[bytes, bytes]]", self._redis.hgetall(_TALLY))
        return {name.decode(): int(times) for name, times in counts.items()}

    async def read(self) -> Entries:
        """Everything."""
        handed, admitted, completing = [
            frozenset(job.decode() for job in await self._redis.smembers(key))
            for key in (_HANDED, _ADMITTED, _COMPLETING)
        ]
        done = await self._redis.hgetall(_DONE)
        return Entries(handed, admitted, completing, {job.decode(): int(times) for job, times in done.items()})

    async def begin_anew(self) -> None:
        """Forget the jobs once all of them have ended; breaches and the tally stay."""
        await self._redis.delete(_HANDED, _ADMITTED, _COMPLETING, _DONE)
