"""The round's keyboard as a member of the chat sees it, and letters that stand for its emoji.

Emoji are hard to type on a terminal. So the letters a..p stand for the sixteen emoji in their order, and are turned
into them before anything is said, as a phone's emoji keyboard would.
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from typing import Final

import emoji

from engine.game.model import KEYBOARD_SIZE, SECRET_LENGTH

LETTERS: Final = string.ascii_lowercase[:KEYBOARD_SIZE]
_PICKED: Final = re.compile(rf"[{LETTERS}]{{{SECRET_LENGTH}}}")
_PICKED_COMMAND: Final = re.compile(rf"(?P<command>/g(?:@\w+)?\s+)(?P<letters>[{LETTERS}]+)")


@dataclass(frozen=True, slots=True)
class Keyboard:
    """Sixteen emoji in their order."""

    emoji: tuple[str, ...]

    @classmethod
    def seen_in(cls, text: str) -> Keyboard | None:
        """The keyboard that a message shows: sixteen different emoji on lines that hold nothing else; or None."""
        run: list[str] = []
        for line in [*text.splitlines(), "."]:
            found = _emoji_alone(line)
            if found:
                run += found
            elif len(run) == len(set(run)) == KEYBOARD_SIZE:
                return cls(tuple(run))
            else:
                run = []
        return None

    def spelt(self, text: str) -> str:
        """``text`` with six letters a..p (or any number of them after ``/g``) turned into emoji; else as it is."""
        bare = "".join(text.split())
        if _PICKED.fullmatch(bare):
            return self._emoji_of(bare)
        command = _PICKED_COMMAND.fullmatch(text.strip())
        return command["command"] + self._emoji_of(command["letters"]) if command else text

    def legend(self) -> str:
        """The letters beside their emoji."""
        return " ".join(f"{letter}{shown}" for letter, shown in zip(LETTERS, self.emoji, strict=True))

    def _emoji_of(self, letters: str) -> str:
        return "".join(self.emoji[LETTERS.index(letter)] for letter in letters)


def _emoji_alone(line: str) -> list[str]:
    found = [match.chars for match in emoji.analyze(line, non_emoji=True) if not match.chars.isspace()]
    return found if all(emoji.is_emoji(chars) for chars in found) else []
