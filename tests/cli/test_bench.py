"""``codemojex bench`` runs the benchmarks of a checkout, and says so where there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.cli import run


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that the program takes for the one it is in, with nothing in it."""
    monkeypatch.setattr("bot.commands.bench._ROOT", tmp_path)
    return tmp_path


def put_benchmarks(checkout: Path, source: str) -> None:
    (checkout / "pyproject.toml").touch()
    (checkout / "benchmarks").mkdir()
    (checkout / "benchmarks" / "__init__.py").touch()
    (checkout / "benchmarks" / "__main__.py").write_text(source)


def test_an_installed_program_says_where_the_benchmarks_are(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert checkout.is_dir()
    assert run(["bench", "--quick"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "checkout" in line
    assert "make setup" in line


def test_it_hands_on_what_it_was_asked_for(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_benchmarks(checkout, "import json, sys; json.dump(sys.argv[1:], open(sys.argv[-1], 'w'))")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert run(["bench", "--quick", "--json", "figures.json"]) == 0
    file = elsewhere / "figures.json"
    assert json.loads(file.read_text()) == ["--quick", "--json", str(file)]


def test_benchmarks_that_fail_fail_the_command(checkout: Path) -> None:
    put_benchmarks(checkout, "raise SystemExit('no room')")
    assert run(["bench"]) == 1


def test_a_file_that_can_not_be_written_is_refused_at_once(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put_benchmarks(checkout, "raise SystemExit('it began')")
    assert run(["bench", "--json", str(checkout / "nowhere" / "figures.json")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "nowhere" in line
