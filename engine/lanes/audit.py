"""The audit: what is counted and indexed must follow from the leases, the lanes and the jobs.

It goes through the queue in bounded passes while everybody works on, and judges each group in one script, so that what
it reports was wrong at one instant and not merely on the move.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from redis.exceptions import ResponseError

from engine.lanes.job import CODES, State
from engine.lanes.keys import Keys
from engine.lanes.queue import Queue
from engine.lanes.transport import Transport, Words

_AT_ONCE: Final = 100
_LANES_AT_ONCE: Final = 5_000
_PAGE: Final = 1_000
_PAGED: Final = ("audit_scan", "audit_entries", "audit_lane")


@dataclass(frozen=True, slots=True)
class Drift:
    """One thing that did not agree with the leases, lanes and jobs.

    ``what`` is one of: type, visit, ghost, index, record, lost, places, inner ring, depth, active, delayed, stamp,
    pace, taken, ring, unreadable.
    """

    what: str
    where: str
    found: str
    expected: str


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit went through, and what it found."""

    groups: int
    lanes: int
    jobs: int
    drift: tuple[Drift, ...]
    repaired: bool
    """Whether it mended what it found."""

    @property
    def clean(self) -> bool:
        """Whether everything agreed."""
        return not self.drift


class Auditing(Queue):
    """The verb that checks a queue."""

    async def audit(self, *, repair: bool = False) -> Audit:
        """Compare every counter and ring with the leases and lanes; mend them if asked.

        A repair deletes keys of a foreign type and entries whose job is gone, lets a job that is in no place wait
        again, leaves one that is in several in one of them (its newest lease, if it has one), and counts anew. Levers
        that were in a key of a foreign type are lost with it.
        """
        return await _Round(self._transport, self._keys, repair=repair).run()


class _Round:
    """One audit."""

    def __init__(self, transport: Transport, keys: Keys, *, repair: bool) -> None:
        self._transport = transport
        self._keys = keys
        self._repair = int(repair)
        self._drift: list[Drift] = []
        self._lanes: defaultdict[str, set[str]] = defaultdict(set)
        self._jobs = 0

    async def run(self) -> Audit:
        self._note(await self._one("audit_keys"))
        async for places, _ in self._pages(note=True):
            for place in places:
                self._lanes[place[:14]].update([place[14:]] if place[14:] else [])
        for state in (State.leased, State.scheduled, State.dead):
            await self._to_the_end("audit_entries", [(CODES[state],)])
        await self._to_the_end("audit_lane", [(group, lane) for group in self._lanes for lane in self._lanes[group]])
        await self._look_where_jobs_are()
        groups = await self._look_at_groups()
        lanes = sum(len(its) for its in self._lanes.values())
        return Audit(groups, lanes, self._jobs, tuple(self._drift), bool(self._repair))

    async def _pages(self, *, note: bool) -> AsyncIterator[tuple[list[str], list[str]]]:
        """Go through the queue's keys; an audit does so twice, and notes foreign types once."""
        cursor = b"0"
        while True:
            cursor, places, jobs, *rows = await self._one("audit_scan", cursor)
            self._note(rows if note else [])
            yield [name.decode("ascii") for name in places], [name.decode("ascii", "replace") for name in jobs]
            if cursor == b"0":
                return

    async def _look_where_jobs_are(self) -> None:
        # Where its index entry is missing, a job only seems to be lost; a repair has just put that back.
        missing = {drift.where[44:58] for drift in self._drift if drift.what == "index" and not self._repair}
        async for _, jobs in self._pages(note=False):
            self._jobs += len(jobs)
            wanted = [job for job in jobs if job not in missing]
            calls = [wanted[first : first + _AT_ONCE] for first in range(0, len(wanted), _AT_ONCE)]
            for rows in await self._many("audit_jobs", calls):
                self._note(rows)

    async def _look_at_groups(self) -> int:
        times = await self._ring()
        groups = set(self._lanes) | set(times)
        for key in self._keys.by_group:
            async for names in self._names("HSCAN", key, 2):
                for name in names:
                    # By group, by group and lane, or by a letter and the group.
                    groups.add(name[:14] if len(name) != 15 else name[1:])
                    if len(name) == 28:
                        self._lanes[name[:14]].add(name[14:])
        async for names in self._names("SSCAN", self._keys.taken, 1):
            groups.update(names)
        async for entries in self._names("ZSCAN", self._keys.out, 2):
            groups.update(entry[:14] for entry in entries)
        # Those at the head of the ring first, so that a ring that is built anew keeps its order.
        ordered = [*times, *sorted(groups - set(times))]
        calls: list[Words] = [
            (group, times[group], *sorted(self._lanes.get(group, ()))[:_LANES_AT_ONCE]) for group in ordered
        ]
        for first in range(0, len(calls), _AT_ONCE):
            for rows in await self._many("audit_group", calls[first : first + _AT_ONCE]):
                self._note(rows)
        return len(groups)

    async def _ring(self) -> Counter[str]:
        """How often the ring has each group; where it turns meanwhile, a group may be missed or met twice."""
        times: Counter[str] = Counter()
        while page := await self._read("LRANGE", self._keys.ring, times.total(), times.total() + _LANES_AT_ONCE - 1):
            times.update(name.decode("ascii", "replace") for name in page)
        return times

    async def _names(self, command: str, key: str, step: int) -> AsyncIterator[list[str]]:
        cursor = b"0"
        while True:
            reply = await self._read(command, key, cursor, "COUNT", _PAGE)
            if not reply:
                return
            cursor, names = reply
            yield [name.decode("ascii", "replace") for name in names[::step]]
            if cursor == b"0":
                return

    async def _to_the_end(self, verb: str, what: Sequence[Words]) -> None:
        """Run a script that goes in pages for each of ``what``, side by side, until each is at its end."""
        left: list[tuple[Words, bytes]] = [(words, b"0") for words in what]
        while left:
            now, left = left[:_AT_ONCE], left[_AT_ONCE:]
            replies = await self._many(verb, [(*words, cursor) for words, cursor in now])
            for (words, _), (cursor, *rows) in zip(now, replies, strict=True):
                self._note(rows)
                if cursor != b"0":
                    left.append((words, cursor))

    async def _one(self, verb: str, *args: str | bytes | int) -> Any:
        return (await self._many(verb, [args]))[0]

    async def _many(self, verb: str, calls: Sequence[Words]) -> list[Any]:
        """Run a script for each of ``calls``; one that meets a foreign type is noted, and has nothing to say."""
        replies: list[Any] = []
        for words, reply in zip(
            calls, await self._transport.run_many(verb, [(self._repair, *words) for words in calls]), strict=True
        ):
            if isinstance(reply, ResponseError) and "WRONGTYPE" in str(reply):
                self._drift.append(Drift("unreadable", str(words[0]) if words else "", verb, str(reply)[:200]))
                replies.append([b"0", [], []] if verb in _PAGED else [])
            elif isinstance(reply, Exception):
                raise reply
            else:
                replies.append(reply[1:])
        return replies

    async def _read(self, *command: str | bytes | int) -> Any:
        try:
            return await self._transport.read(*command)
        except ResponseError as error:
            if "WRONGTYPE" not in str(error):
                raise
            return None  # noted by the look at its type

    def _note(self, rows: Iterable[Sequence[bytes]]) -> None:
        self._drift += [Drift(*(word.decode("utf-8", "replace") for word in row)) for row in rows if row]
