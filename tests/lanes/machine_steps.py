"""The steps that Hypothesis may choose: every verb, how often it comes, and with what."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

from engine import ids
from tests.lanes.naming import ANA, BEN, A, B, C

NAMES: Final = {"A": A, "B": B, "C": C, "ANA": ANA, "BEN": BEN}
JOBS: Final = [ids.brand(ids.JOB, number) for number in range(1, 25)]
"""So few that one which ended often comes in again, while old leases of it are still about."""
MAX_ATTEMPTS: Final = 2

_groups = st.sampled_from(["A", "A", "A", "B", "B", "C"])
_lanes = st.sampled_from([None, "ANA", "BEN"])
_jobs = st.integers(0, len(JOBS) - 1)
_counts = st.integers(1, 6)
_hours = st.integers(1, 3)
_delays = st.sampled_from([0, 0, 0, 1, 2])
_picks = st.lists(st.integers(0, 7), min_size=1, max_size=3)
_numbers = st.sampled_from([None, 1, 2, 3])
_messages = st.sampled_from([None, None, None, None, ("message 1", 1), ("message 2", 2)])
tickets = st.tuples(
    st.sampled_from([None, None, None, None, None, 0, 1, 2]),
    _groups,
    _lanes,
    _delays,
    _messages,
    st.sampled_from([None, None, 2, 3]),
)
Step = tuple[Any, ...]
"""A verb and what it takes, as the method of its name has it."""
Ticket = tuple[int | None, str, str | None, int, tuple[str, int] | None, int | None]


_VERBS: Final[dict[str, tuple[int, list[st.SearchStrategy[Any]]]]] = {
    "enqueue": (6, [tickets]),
    "enqueue_many": (8, [st.lists(tickets, max_size=6)]),
    "claim": (12, [_counts, _hours]),
    "claim_group": (6, [_counts, _hours]),
    "complete": (6, [_picks, st.sampled_from([0, 0, 1, 2])]),
    "exchange": (6, [_picks, _counts, _hours]),
    "release": (4, [_picks]),
    "retry": (
        6,
        [st.integers(0, 7), st.sampled_from([0, 0, 0, 1, 2]), st.sampled_from(["broken", "", "timed out again"])],
    ),
    "bury": (3, [st.integers(0, 7)]),
    "extend": (3, [_picks, _hours]),
    "time_goes_by": (5, [_hours]),
    "reap": (2, [_counts]),
    "reap_group": (2, [_groups, _counts]),
    "promote": (2, [_counts]),
    "redrive": (4, [st.sampled_from([None, None, "A", "B"]), st.sampled_from([None, None, None, 0, 1]), _counts]),
    "reassign": (4, [_jobs, _groups, _lanes]),
    "drain": (1, [_groups, _lanes]),
    "forget": (1, [_groups]),
    "limit": (3, [_groups, _numbers]),
    "weight": (2, [_groups, _numbers]),
    "cap": (2, [_groups, st.sampled_from([None, 1, 3, 5]), st.sampled_from([None, None, 1, 2])]),
    "pause": (2, [_groups]),
    "resume": (4, [_groups]),
    "hold": (2, [_groups, st.none() | _hours]),
    "pause_all": (1, []),
    "resume_all": (3, []),
    "audit": (1, [st.booleans()]),
    "browse": (1, [_groups, _counts]),
    "stats": (1, [st.integers(0, 3)]),
    "wait": (1, []),
    "flush_scripts": (1, []),
}
"""How often each verb comes, and with what."""
_OFTEN: Final = [verb for verb, (often, _) in _VERBS.items() for _ in range(often)]


@st.composite
def steps(draw: st.DrawFn) -> Step:
    verb = draw(st.sampled_from(_OFTEN))
    return verb, *(draw(argument) for argument in _VERBS[verb][1])
