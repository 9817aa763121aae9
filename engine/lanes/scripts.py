"""The Lua scripts: one verb a file, shared parts in ``include/``, expanded once when first asked for.

A line ``-- @include name`` is replaced by ``include/name.lua``; indentation does not matter.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from engine.lanes.errors import BadScript

_INCLUDE: Final = re.compile(r"\s*-- @include (\S+)")
FOLDER: Final[Traversable] = files("engine.lanes") / "lua"


@dataclass(frozen=True, slots=True)
class Script:
    """One expanded script and the digest the server caches it under."""

    name: str
    text: str
    sha: str = field(init=False)

    def __post_init__(self) -> None:
        # The digest names the script to the server's cache; it protects nothing.
        object.__setattr__(self, "sha", hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest())


def expand(name: str, folder: Traversable = FOLDER) -> str:
    """Return the text of ``name``.lua with all its includes put in their places.

    Raises:
        BadScript: a file is missing, or is included twice or in a circle.
    """
    return "\n".join(_lines(folder / f"{name}.lua", folder / "include", (f"{name}.lua",), set())) + "\n"


def _lines(file: Traversable, includes: Traversable, path: tuple[str, ...], seen: set[str]) -> list[str]:
    trail = " > ".join(path)
    if not file.is_file():
        raise BadScript(f"{trail}: no such file")
    lines = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        match = _INCLUDE.fullmatch(line)
        if match is None:
            lines.append(line)
            continue
        wanted = f"include/{match[1]}.lua"  # a verb and an include may share a name
        if wanted in path:
            raise BadScript(f"{trail}, line {number}: {wanted} includes itself")
        if wanted in seen:
            raise BadScript(f"{trail}, line {number}: {wanted} is included twice")
        seen.add(wanted)
        lines += _lines(includes / f"{match[1]}.lua", includes, (*path, wanted), seen)
    return lines


@cache
def script(name: str) -> Script:
    """Return the script of the verb ``name``, read from the package once a process."""
    return Script(name, expand(name))
