"""The image is made of what is in the tree, from locked packages, and runs as nobody in particular."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Final

import pytest

from tests.deploy.tree import ROOT

DOCKERFILE: Final = ROOT / "deploy" / "Dockerfile"


def instructions() -> list[tuple[str, str]]:
    lines = [line for line in DOCKERFILE.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(word, rest) for line in joined.splitlines() if line for word, _, rest in [line.partition(" ")]]


def said(instruction: str) -> list[str]:
    return [rest for word, rest in instructions() if word == instruction]


def copied_from_the_tree() -> list[str]:
    """What the image takes from the build context."""
    copies = [shlex.split(rest) for rest in said("COPY")]
    return [source for words in copies if not words[0].startswith("--from") for source in words[:-1]]


def test_everything_it_copies_exists() -> None:
    assert copied_from_the_tree()
    for source in copied_from_the_tree():
        assert (ROOT / source).exists(), f"{source} is not in the tree"


def test_everything_it_copies_passes_the_dockerignore() -> None:
    """The ignore file shuts everything out, then names what may come in."""
    rules = [
        line for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line and line[0] != "#"
    ]
    assert rules[0] == "*"
    let_in = {rule.removeprefix("!") for rule in rules if rule.startswith("!")}
    assert set(copied_from_the_tree()) == let_in


def test_the_packages_it_copies_are_the_packages_of_the_wheel() -> None:
    folders = {source for source in copied_from_the_tree() if (ROOT / source).is_dir()}
    assert folders == {"bot", "engine", "migrations"}


def test_every_stage_stands_on_the_same_pinned_python() -> None:
    (pin,) = said("ARG")
    assert re.fullmatch(r"PYTHON=3\.\d+\.\d+-slim-\w+", pin)
    images = [rest.partition(" ")[0] for rest in said("FROM")]
    assert len(images) > 1
    assert set(images) == {"python:${PYTHON}"}


@pytest.mark.parametrize("install", [part for run in said("RUN") for part in run.split("&&") if "pip install" in part])
def test_nothing_is_installed_that_is_not_locked(install: str) -> None:
    words = install.split()
    from_lock = "--require-hashes" in words and words[-2] == "-r" and Path(words[-1]).suffix == ".lock"
    ours_alone = "--no-deps" in words and words[-1] == "/tmp/*.whl"  # noqa: S108 - a path of the image
    assert from_lock or ours_alone, install


def test_what_runs_is_not_root_and_is_the_program() -> None:
    last_stage = instructions()[max(at for at, (word, _) in enumerate(instructions()) if word == "FROM") :]
    (user,) = [rest for word, rest in last_stage if word == "USER"]
    assert user.partition(":")[0] not in {"root", "0"}
    assert ("ENTRYPOINT", '["codemojex"]') in last_stage
    assert not [rest for word, rest in last_stage if word == "RUN" and "pip" in rest]
