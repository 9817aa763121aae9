"""The scripts as they are sent are the ones that were reviewed."""

from __future__ import annotations

import pytest

from engine.lanes.scripts import expand
from tests.lanes.snapshotting import SNAPSHOTS, verbs


@pytest.mark.parametrize("verb", verbs())
def test_a_script_is_as_its_snapshot(verb: str) -> None:
    kept = SNAPSHOTS / f"{verb}.lua"
    assert kept.is_file(), f"{verb} has no snapshot: run `make snapshots`, and look at the diff"
    assert expand(verb) == kept.read_text(encoding="utf-8"), "run `make snapshots`, and look at the diff"


def test_no_snapshot_outlives_its_script() -> None:
    assert sorted(kept.stem for kept in SNAPSHOTS.glob("*.lua")) == verbs()
