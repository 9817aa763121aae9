"""What the header of a script promises: its keys, its arguments, its reply."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from engine.lanes.scripts import expand

_ARGUMENT: Final = re.compile(r"-- ARGV\[(\d+)(\.\.)?\] (\w+)(?: (integer|string|bytes):|, (\w+) a job:)")
_CODE: Final = re.compile(r"(?<![\w.])(-?\d+) ([a-z_]+)")
_NUMBERS: Final = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument, or (``many``) all from there on, so many of them an item."""

    name: str
    kind: str
    many: bool
    an_item: int = 1

    def fits(self, word: bytes) -> bool:
        """Whether a word that was sent is of the kind."""
        return self.kind != "integer" or re.fullmatch(rb"-?\d+", word) is not None


@dataclass(frozen=True, slots=True)
class Header:
    """One script's."""

    keys: tuple[str, ...]
    arguments: tuple[Argument, ...]
    returns: str
    locals: tuple[str, ...]
    """What the first assignment from ARGV binds, in order."""
    sources: tuple[str, ...]
    """What it binds them to."""

    def takes(self, words: list[bytes]) -> bool:
        """Whether so many words of those kinds are what the script takes."""
        last = self.arguments[-1] if self.arguments else None
        fixed = [argument for argument in self.arguments if not argument.many]
        rest = words[len(fixed) :]
        if last is None or not last.many:
            return not rest and len(words) == len(fixed) and all(map(Argument.fits, fixed, words))
        return len(words) >= len(fixed) and len(rest) % last.an_item == 0 and all(map(Argument.fits, fixed, words))

    def gives(self, reply: list[Any]) -> bool:
        """Whether the reply has the shape and, where they are codes, the numbers that are promised."""
        shapes = [_items(shape) for shape in _shapes(self.returns)]
        if shapes[0][0] == "code":
            codes = {code for code, _ in self.codes}
            given = reply if "..." in shapes[0] else reply[:1]
            return all((code[0] if isinstance(code, list) else code) in codes for code in given)
        return any(
            reply[0] == int(shape[0]) and (len(reply) == len(shape) or any("..." in item for item in shape))
            for shape in shapes
        )

    @property
    def codes(self) -> list[tuple[int, str]]:
        """Codes of the reply, and their words."""
        told = re.sub(r"\{(-\d+), depth, cap, eta_ms\}", r"\1", self.returns)
        return [(int(code), word) for code, word in _CODE.findall(told)]


def header(verb: str) -> Header:
    """Read the header of ``verb``.lua and the assignments under it."""
    lines = expand(verb).splitlines()
    top = lines[: next(at for at, line in enumerate(lines) if line.startswith("local base"))]
    keys = tuple(re.findall(r"-- KEYS\[\d+\] (\w+) string", "\n".join(top)))
    arguments: list[Argument] = []
    for line in top:
        if line.startswith("-- ARGV["):
            match = _ARGUMENT.match(line)
            assert match is not None, f"{verb}.lua: {line} is not `-- ARGV[n] name kind: what`"
            position, many, name, kind, number = match.groups()
            assert int(position) == len(arguments) + 1, f"{verb}.lua: {line} is out of order"
            arguments.append(Argument(name, kind or "words", many is not None, _NUMBERS.get(number, 1)))
    told = "\n".join(top)
    returns = re.sub(r"\n--\s*", " ", told[told.index("-- Returns ") + len("-- Returns ") :])
    bound = next((line for line in lines[len(top) :] if re.match(r"local .*ARGV", line)), "local  = ")
    names, _, values = bound.removeprefix("local ").partition(" = ")
    assigned = dict(zip(_items("{" + names + "}"), _items("{" + values + "}"), strict=True))
    from_argv = {name: value for name, value in assigned.items() if "ARGV" in value}
    return Header(keys, tuple(arguments), returns, tuple(from_argv), tuple(from_argv.values()))


def _shapes(returns: str) -> list[str]:
    """The outermost ``{...}`` of what is returned; what only describes an item of another is left out."""
    shapes, depth, start = [], 0, 0
    for at, char in enumerate(returns):
        if char == "{":
            start = at if depth == 0 else start
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                shapes.append(returns[start : at + 1])
    return shapes


def _items(shape: str) -> list[str]:
    """Split ``{a, {b, c}..., d}`` or ``{f(x, 4), y}`` at its outermost commas."""
    items, depth = [""], 0
    for char in shape[1:-1]:
        depth += (char in "{(") - (char in "})")
        if char == "," and depth == 0:
            items.append("")
        else:
            items[-1] += char
    return [item.strip() for item in items if item.strip()]
