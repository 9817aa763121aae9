"""The oracle: reads a queue's keys by itself and says whether the invariants of the design hold."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, Final, cast

from redis.asyncio import Redis

from tests.lanes.state import State, duplicates, parse

_DUMP: Final = Path(__file__).with_name("dump.lua").read_text()
_WAKE_LIMIT: Final = 64
_NO_LIMIT: Final = 1 << 62


class Oracle:
    """Looks with a client of its own, at one instant of the server.

    Attributes:
        ceilings_move: ceilings change while others claim, so that one look cannot tell by which a lease was granted.
        ghosts: the test has deleted records, so entries without one are no fault.
        most_active: the most leases of a group that any look saw.
    """

    def __init__(self, url: str) -> None:
        self._redis = Redis.from_url(url)
        self._before: dict[str, State] = {}
        self._one_at_a_time = asyncio.Lock()
        self.ceilings_move = False
        self.ghosts = False
        self.most_active: defaultdict[str, int] = defaultdict(int)

    def forget(self) -> None:
        """Take what comes next as it is: a repair may have taken counters back."""
        self._before.clear()

    async def close(self) -> None:
        await self._redis.aclose()

    async def raw(self) -> list[Any]:
        """Everything, as the server holds it, with the time left out."""
        _, *rows = await self._dump("*")
        return [[key, kind, value] for key, kind, _, value in rows]

    async def look(self, queue: str = "cm") -> State:
        """One queue, unjudged."""
        return (await self._read()).get(queue, State())

    async def check(self, queue: str = "cm") -> State:
        """Fail if an invariant of any queue does not hold at this instant; answer what there is of ``queue``."""
        async with self._one_at_a_time:  # two looks must be judged in the order they were taken
            queues = await self._read()
            for name in self._before.keys() - queues.keys():
                queues[name] = State()
            for name, state in queues.items():
                _holds(state, self._before.get(name, State()), ghosts=self.ghosts, moving=self.ceilings_move)
                for group, active in state.gactive.items():
                    self.most_active[group] = max(self.most_active[group], active)
            self._before = queues
            return queues.get(queue, State())

    async def _dump(self, pattern: str) -> list[Any]:
        return await cast("Awaitable[list[Any]]", self._redis.eval(_DUMP, 0, pattern))

    async def _read(self) -> dict[str, State]:
        now_us, *rows = await self._dump("emq:*")
        of_queue: dict[str, list[tuple[str, str, int, Any]]] = defaultdict(list)
        for key, kind, ttl_ms, value in rows:
            name = key.decode()
            assert name.startswith("emq:{"), f"{name} is outside of every queue"
            queue = name[5 : name.index("}")]
            of_queue[queue].append((name, kind.decode(), ttl_ms, value))
        return {queue: parse(queue, int(now_us), its) for queue, its in of_queue.items()}


def _holds(state: State, before: State, *, ghosts: bool, moving: bool) -> None:
    _each_group_is_on_the_ring_once_or_barred(state)
    _each_lane_is_on_its_inner_ring_once(state, ghosts=ghosts)
    _slots_are_counted(state, before, moving=moving)
    _each_job_is_in_one_place(state, ghosts=ghosts)
    _counters_only_grow(state, before)
    _idle_groups_left_nothing(state)
    assert state.wake <= _WAKE_LIMIT, f"{state.wake} wake tokens"


def _each_group_is_on_the_ring_once_or_barred(state: State) -> None:
    """I1, groups."""
    assert not duplicates(state.ring), f"I1: {duplicates(state.ring)} stand on the ring twice"
    for group in state.busy | set(state.ring):
        bars = {
            "has nothing waiting": not any(owner == group for owner, _ in state.waiting),
            "is paused": group in state.paused,
            "is held": group in state.held,
            "is taken": group in state.taken,
            "is full": state.gactive.get(group, 0) >= state.glimit.get(group, _NO_LIMIT),
        }
        barred = [bar for bar, bars_it in bars.items() if bars_it]
        if group in state.ring:
            assert not barred, f"I1: {group} is on the ring, but it {' and '.join(barred)}"
        else:
            assert barred, f"I1: {group} is not on the ring, but nothing bars it"
    assert set(state.served) == set(state.ring), f"served tells of {set(state.served) ^ set(state.ring)}"
    order = [state.served[group] for group in state.ring]
    assert order == sorted(order), f"the ring is not in the order of serving: {order}"
    visit = state.counters.get("visit")
    assert visit is None or state.ring[:1] == [visit], f"{visit} is being visited, but does not head the ring"
    for group in state.taken:
        assert group in state.gactive, f"I1: {group} is taken, but nothing of it is leased"


def _each_lane_is_on_its_inner_ring_once(state: State, *, ghosts: bool) -> None:
    """I1, lanes."""
    for group in {group for group, _ in state.waiting} | set(state.inner):
        ring = state.inner.get(group, [])
        assert not duplicates(ring), f"I1: {duplicates(ring)} stand on the inner ring of {group} twice"
        lanes = {lane for owner, lane in state.waiting if owner == group}
        if ghosts:
            assert set(ring) >= lanes, f"I1: {group} does not turn {lanes - set(ring)}"
        else:
            assert set(ring) == lanes, f"I1: {group} turns {ring}, but {lanes} have work"


def _slots_are_counted(state: State, before: State, *, moving: bool) -> None:
    """I2."""
    groups = {entry.group for entry in state.leases}
    assert state.gactive == {group: state.active(group) for group in groups}, f"I2: {state.gactive}"
    for group, active in state.gactive.items():
        ceiling = state.glimit.get(group, _NO_LIMIT)
        assert moving or active <= max(ceiling, before.gactive.get(group, 0)), (
            f"I2: {group} has {active} in flight; its ceiling is {ceiling}"
        )


def _each_job_is_in_one_place(state: State, *, ghosts: bool) -> None:
    """I3, and what is counted and indexed of it."""
    places: list[tuple[str, str, str, int]] = [
        (job, group, lane, seq) for (group, lane), jobs in state.waiting.items() for job, seq in jobs
    ]
    entries = (*state.leases, *state.schedule, *state.dead)
    places += [(entry.job, entry.group, entry.lane, entry.seq) for entry in entries]
    if not ghosts:
        assert not duplicates(job for job, *_ in places), f"I3: in two places: {duplicates(job for job, *_ in places)}"
        for job, group, lane, seq in places:
            assert state.is_real(group, lane, job, seq), f"I3: the record of {job} is missing or another's"
    lost = state.records.keys() - {job for job, *_ in places}
    assert not lost, f"I3: in no place: {lost}"
    assert state.gdepth == {group: depth for group in state.busy if (depth := state.depth(group))}, state.gdepth
    delayed = Counter((entry.group, entry.lane) for entry in state.schedule)
    assert state.ldelayed == delayed, f"scheduled by lane: {state.ldelayed}, not {delayed}"
    assert sorted(state.out) == sorted((entry.member, 0) for entry in entries), "the index is not what it indexes"


def _counters_only_grow(state: State, before: State) -> None:
    """Tokens are never given twice: every new lease has a larger one than any before it."""
    known = {entry.member for entry in before.leases}
    newest = max((entry.token for entry in before.leases), default=0)
    for entry in state.leases:
        assert entry.member in known or entry.token > newest, f"I4: the token of {entry.member} is not new"
    assert not duplicates(str(entry.token) for entry in state.leases), "I4: two leases share a token"
    seqs = [(entry.job, entry.seq) for entry in (*state.leases, *state.schedule, *state.dead)]
    seqs += [pair for jobs in state.waiting.values() for pair in jobs]
    assert not duplicates(str(seq) for _, seq in set(seqs)), "two jobs share a seq"


def _idle_groups_left_nothing(state: State) -> None:
    """I6."""
    assert state.groups <= state.busy, f"I6: something is left of {state.groups - state.busy}"
    assert set(state.gstamp) <= set(state.gdepth), f"a stamped weight outlived its backlog: {state.gstamp}"
    paced = {field[-14:] for field in state.gflow}
    assert paced <= set(state.gdepth) & set(state.gcap), f"a pace is kept for no cap or no backlog: {state.gflow}"
