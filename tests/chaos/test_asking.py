"""What is asked of a long run is checked before it: one of the wrong code or of no round would prove nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.chaos.__main__ import asked

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("rounds", ["0", "-1", "x", "1.5"])
def test_a_run_has_a_round_at_least(capsys: pytest.CaptureFixture[str], rounds: str) -> None:
    with pytest.raises(SystemExit):
        asked(["--rounds", rounds])
    assert "--rounds" in capsys.readouterr().err


def test_another_version_must_be_a_checkout(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(SystemExit):
            asked(["--other", str(folder)])
        assert f"{folder} is no checkout" in capsys.readouterr().err


def test_another_version_is_found_from_wherever_its_processes_start() -> None:
    assert asked(["--other", os.path.relpath(ROOT)]).other == ROOT
