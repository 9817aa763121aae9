"""``python -m tests.lanes.snapshotting`` (`make snapshots`) writes down every script as it is sent.

So that a change to an include shows in a diff what it changes, script by script.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, cast

from engine.lanes.scripts import FOLDER, expand

SNAPSHOTS: Final = Path(__file__).with_name("snapshots")


def verbs() -> list[str]:
    """The scripts there are."""
    return sorted(file.stem for file in cast("Path", FOLDER).glob("*.lua"))


def write() -> None:
    """Write the snapshots anew, and delete those of scripts that are gone."""
    SNAPSHOTS.mkdir(exist_ok=True)
    for stale in SNAPSHOTS.glob("*.lua"):
        stale.unlink()
    for verb in verbs():
        (SNAPSHOTS / f"{verb}.lua").write_text(expand(verb), encoding="utf-8")


if __name__ == "__main__":
    write()
