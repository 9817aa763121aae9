"""What runs the checks: CI's one script, make, and the hooks before a commit."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import yaml

from tests.deploy.tree import ROOT

CI: Final = ROOT / ".ci" / "run"
HOOKS: Final = ROOT / ".pre-commit-config.yaml"
MAKEFILE: Final = (ROOT / "Makefile").read_text(encoding="utf-8")


def needed_by(target: str) -> set[str]:
    found = re.search(rf"^{target}:([^#\n]*)", MAKEFILE, re.MULTILINE)
    assert found, f"make knows no {target}"
    return set(found[1].split())


def test_ci_runs_whatever_a_check_is() -> None:
    made = set(re.findall(r"make --no-print-directory (\w+)", CI.read_text(encoding="utf-8")))
    assert needed_by("check") <= made
    assert all(needed_by(target) for target in made - {"check"})


def test_ci_is_a_program_that_bash_can_read() -> None:
    assert os.access(CI, os.X_OK)
    subprocess.run(["bash", "-n", CI], check=True)  # noqa: S603, S607 - our own script, any bash


def test_ci_says_what_to_do_where_there_is_no_python(tmp_path: Path) -> None:
    """It needs no more of PATH than what every system has."""
    done = subprocess.run(  # noqa: S603 - our own script
        ["/bin/bash", CI],
        env={"PATH": f"{tmp_path}:/bin", "PYTHON": "no-such-python"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "no-such-python" in done.stderr
    assert "PYTHON=" in done.stderr


def test_the_hooks_are_well_formed() -> None:
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "pre_commit", "validate-config", HOOKS], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_hooks_download_nothing_and_run_what_the_lock_installs() -> None:
    (repository,) = yaml.safe_load(HOOKS.read_text(encoding="utf-8"))["repos"]
    assert repository["repo"] == "local"
    lock = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    package = {"lint-imports": "import-linter"}
    for hook in repository["hooks"]:
        assert hook["language"] == "system"
        program = hook["entry"].split()[0]
        name = program.removeprefix(".venv/bin/")
        assert program == "bash" or re.search(rf"^{package.get(name, name)}==", lock, re.MULTILINE), program
