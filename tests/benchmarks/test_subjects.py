"""Each subject measures what it says, at a size that tells nothing about speed."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import SUBJECTS
from benchmarks.figure import Figure
from benchmarks.peers import Peers, best
from benchmarks.process import ROOT, Side, alternate
from benchmarks.sizes import TINY

ALONE = Peers(python=False)


@cache
def measured(subject: str) -> dict[str, Figure]:
    return {figure.name: figure for figure in SUBJECTS[subject](TINY, ALONE)}


@pytest.mark.parametrize(
    ("subject", "figures"),
    [
        ("drain", 5),
        ("redis-time", 6),
        ("enqueue", 2),
        ("tenants", 6),
        ("wake", 4),
        ("single", 1),
        ("webhook", 8),
        ("durability", 9),
    ],
)
def test_a_subject_measures_something(subject: str, figures: int) -> None:
    found = measured(subject)
    assert len(found) == figures
    assert all(figure.value > 0 for figure in found.values())


def test_a_flood_is_measured_and_loses_nothing() -> None:
    *times, bad, most = measured("flood").values()
    assert [figure.value > 0 for figure in times] == [True] * 3
    assert bad.value == 0
    assert 0 < most.value <= 8


def test_fairness_is_exact_where_it_must_be() -> None:
    found = measured("fairness")
    assert len(found) == 10
    exact = ("service by which", "looks at the ring", "done twice", "most in flight", "workers: done")
    assert [figure for name, figure in found.items() if any(part in name for part in exact) and not figure.ok] == []


def test_a_peer_that_is_not_installed_fails_nothing() -> None:
    found = [figure for figure in measured("enqueue").values() if figure.bound is not None]
    assert [(figure.against, figure.ok) for figure in found] == [(None, True)] * 2


def test_more_tenants_do_not_cost_more_commands() -> None:
    found = [figure for name, figure in measured("tenants").items() if name.startswith("commands")]
    assert len(found) == 2
    assert all(figure.ok for figure in found)


def test_memory_is_more_than_the_payload() -> None:
    assert all(64 < figure.value < 1_000 for figure in measured("memory").values())


def test_forty_claimers_do_each_job_once() -> None:
    (figure,) = measured("together").values()
    assert (figure.value, figure.ok) == (TINY.raced, True)


def test_a_peer_that_breaks_is_left_out_and_one_of_ours_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    fit = Side("fit", (sys.executable, "-c", "print('{\"per_s\": 7}')"))
    broken = Side("broken", (sys.executable, "-c", "raise SystemExit('out of order')"))
    said = alternate(2, [fit], [broken])
    assert said == {"fit": [{"per_s": 7}] * 2}
    assert best(said, "per_s", [broken]) == []
    assert "out of order" in capsys.readouterr().err
    with pytest.raises(RuntimeError, match="out of order"):
        alternate(1, [broken])


def test_the_best_peer_is_the_one_with_the_best_median() -> None:
    one, other = Side("one", ()), Side("other", ())
    said: dict[str, list[dict[str, Any]]] = {
        "one": [{"ms": 1}, {"ms": 9}, {"ms": 9}],
        "other": [{"ms": 5}, {"ms": 5}, {"ms": 5}],
    }
    assert best(said, "ms", [one, other], lowest=True) == [5, 5, 5]
    assert best(said, "ms", [one, other]) == [1, 9, 9]


def test_what_was_measured_is_written_for_programs_too(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "benchmarks", "--quick", "--only", "memory", "--json", file],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    told = json.loads(file.read_text())
    assert list(told) == ["figures"]
    assert len(told["figures"]) == 2
    for figure in told["figures"]:
        assert list(figure) == ["name", "value", "unit", "against", "bound", "ok"]
        assert figure["ok"] is (figure["value"] <= figure["bound"])
    assert "memory of a waiting job" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["figures.json"]
