"""The lanes and the model taking the same steps, chosen by Hypothesis; after each they agree on everything.

A step is one verb, or time going by. Time goes by hours, by taking them off whatever the server has noted down: nothing
sleeps, and a run depends on no clock. A job that nobody settles is one whose worker crashed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from tests.lanes.machine_steps import Step, Ticket, steps, tickets
from tests.lanes.machine_tending import Tending
from tests.lanes.machine_working import Working


class LanesMachine(Working, Tending):
    """What a failure prints can be pasted into a test as it is."""

    newest: ClassVar[LanesMachine]

    def __init__(self) -> None:
        super().__init__()
        self.script: list[Step] = []
        """What it did so far."""

    @initialize(tickets=st.lists(tickets, min_size=2, max_size=9))
    def begin(self, tickets: list[Ticket]) -> None:
        LanesMachine.newest = self
        self._run(self._redis.flushdb())
        self.take(("enqueue_many", tickets))

    @rule(step=steps())
    def take(self, step: Step) -> None:
        self.script.append(step)
        verb, *arguments = step
        getattr(self, verb)(*arguments)
        self._agree()


def _fails(script: list[Step]) -> bool:
    machine = LanesMachine()
    try:
        machine.begin([])
        for step in script:
            machine.take(step)
    except Exception:  # noqa: BLE001 - any failure counts
        return True
    finally:
        machine.teardown()
    return False


def shortest(script: list[Step]) -> str:
    """Leave out of a failing script whatever it fails without, and write it so that it can be pasted into a test."""
    at = 0
    while at < len(script):
        if _fails(without := script[:at] + script[at + 1 :]):
            script = without
            continue
        verb, *arguments = script[at]
        for left in _shorter(arguments[0]) if arguments and isinstance(arguments[0], list) else ():
            if _fails(with_less := [*script[:at], (verb, left, *arguments[1:]), *script[at + 1 :]]):
                script = with_less
                break
        else:
            at += 1
    steps = [f"state.take({step!r})" for step in script]
    return "\n".join(["state = LanesMachine()", "state.begin([])", *steps, "state.teardown()"])


def _shorter(listed: list[Any]) -> Iterator[list[Any]]:
    return (listed[:at] + listed[at + 1 :] for at in range(len(listed)))
