"""Scripts: one message a line, ``NAME: TEXT``. A message's id is its line's number, so a script repeats itself."""

from __future__ import annotations

import re
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.entities import units
from bot.errors import BadScript
from bot.terminal.chat import GroupChat
from bot.terminal.people import Person

STDIN: Final = "-"
_LINE: Final = re.compile(r"\s*(?P<name>[^:]*?)\s*:\s*(?P<text>.*?)\s*")
_LONGEST_NAME: Final = 64
_LONGEST_TEXT: Final = 4096
_GUESS_COMMAND: Final = re.compile(r"/g(?![0-9A-Za-z_])")


@dataclass(frozen=True, slots=True)
class Line:
    """A message of a script; ``number`` counts every line of the file from 1."""

    number: int
    speaker: str
    text: str

    @property
    def is_turn(self) -> bool:
        """Whether people stop for it: they see what came before it answered, and its own answer. A guess is none."""
        return self.text.startswith("/") and not _GUESS_COMMAND.match(self.text)


def load_script(source: str) -> list[Line]:
    """Read a script from the file ``source``, or from standard input where that is ``-``.

    Raises:
        BadScript: it can't be read, holds no message, or a line is none; names the line.
    """
    name = "standard input" if source == STDIN else source
    try:
        content = sys.stdin.buffer.read() if source == STDIN else Path(source).read_bytes()
    except OSError as error:
        raise BadScript(f"cannot read the script {name} ({error.strerror}); name a file of lines NAME: TEXT") from None
    lines = [
        line
        for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1)
        if (line := _read(number, raw, name)) is not None
    ]
    if not lines:
        script = name if source == STDIN else f"the script {name}"
        raise BadScript(f"{script} holds no message; write lines like `Ana: /newgame fruits 10`")
    return lines


def _read(number: int, raw: bytes, name: str) -> Line | None:
    where = f"line {number} of {name}"
    try:
        text = raw.decode().strip()
    except UnicodeDecodeError:
        raise BadScript(f"{where} is not UTF-8; save the script as UTF-8") from None
    if not text or text.startswith("#"):
        return None
    found = _LINE.fullmatch(text)
    if found is None or not found["name"] or not found["text"]:
        raise BadScript(f"{where} is no message; write it as NAME: TEXT, or begin it with # to skip it")
    if len(found["name"]) > _LONGEST_NAME:
        raise BadScript(f"{where} has a name of {len(found['name'])} characters; Telegram takes {_LONGEST_NAME}")
    if units(found["text"]) > _LONGEST_TEXT:
        raise BadScript(f"{where} is longer than the {_LONGEST_TEXT} characters Telegram takes; shorten it")
    return Line(number, found["name"], found["text"])


async def perform(lines: list[Line], chat: GroupChat, settled: Callable[[], Awaitable[None]]) -> None:
    """Say the lines in ``chat`` and return when all is answered.

    Guesses follow one another without waiting, as a flood does; before and after a command all must be answered.

    Args:
        lines: at least one.
        chat: where.
        settled: returns once everything said so far is answered.
    """
    before: Line | None = None
    for line in lines:
        if line.is_turn or (before is not None and before.is_turn):
            await settled()
        chat.post(Person.named(line.speaker), line.text, line.number)
        before = line
    await settled()
