"""Prometheus' own tool, which judges rules and expressions; and what they speak of."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

_NAME: Final = re.compile(r"\b(?:codemojex|process)_[a-z_]+\b")


def promtool(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run it; skips the test where there is none, but on CI, which has to have it."""
    beside = Path(sys.executable).with_name("promtool")
    program = str(beside) if beside.exists() else shutil.which("promtool")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("CI has no promtool: .ci/run takes it from the package prometheus of Debian and its kin")
        pytest.skip("there is no promtool here; it comes with Prometheus")
    return subprocess.run([program, *arguments], cwd=cwd, check=False, capture_output=True, text=True)  # noqa: S603 - our own command


def metrics_in(expression: str) -> set[str]:
    """The metrics that an expression speaks of, less those that Prometheus makes itself."""
    return set(_NAME.findall(expression))
