"""All verbs in any order, with crashes, lapses and levers between any two of them, beside the model."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.lanes.machine import LanesMachine, shortest
from tests.lanes.sizes import FULL, scaled

SETTINGS = settings(
    max_examples=scaled(100, 3_000),
    stateful_step_count=50,
    derandomize=not FULL,
    deadline=None,
    # Its shrinking takes minutes; a script is shortened in seconds.
    phases=[Phase.generate],
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.timeout(900)  # a failure is made small first
def test_lanes_and_model_agree_after_every_step(redis_url: str) -> None:
    """The same steps in every run, unless the full size is asked for."""
    LanesMachine.url = redis_url
    try:
        run_state_machine_as_test(LanesMachine, settings=SETTINGS)
    except AssertionError as error:
        error.add_note(f"The shortest script that fails:\n{shortest(LanesMachine.newest.script)}")
        raise
