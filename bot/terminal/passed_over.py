"""What the terminal itself says of a line that the bot passes over in silence, though it looks meant for it.

The bot is silent because in a group most of what people say is not for it. At a terminal somebody waits for an answer.
"""

from __future__ import annotations

import re
from typing import Final

from bot.handlers import COMMANDS
from bot.terminal.keyboard import LETTERS, Keyboard
from engine.game.model import SECRET_LENGTH

_COMMAND: Final = re.compile(r"/(\w{1,64})(?:@\w+)?(?:\s.*)?", re.ASCII | re.DOTALL)
_ONE_WORD: Final = re.compile(rf"[a-z]{{{SECRET_LENGTH - 1},{SECRET_LENGTH + 1}}}", re.IGNORECASE)
_SINGLE_LETTERS: Final = re.compile(r"[a-z](?:\s+[a-z]){2,}", re.IGNORECASE)
_ENDS: Final = f"{LETTERS[0]} to {LETTERS[-1]}"


def advice(line: str, keyboard: Keyboard | None) -> str | None:
    """What to say of ``line`` beside the chat; None where the bot answers it, or it is talk.

    A single word of about six letters may be talk, too: it is told all the same, as it costs a line.
    """
    command = _COMMAND.fullmatch(line)
    if command is not None:
        known = command[1].lower() in COMMANDS
        return None if known else f"The bot knows no /{command[1]}: /help says what it knows."
    if not (_ONE_WORD.fullmatch(line) or _SINGLE_LETTERS.fullmatch(line)):
        return None
    if keyboard is None:
        return "No guess: letters stand for emoji once a round has begun; /newgame starts one."
    letters = "".join(line.split())
    if keyboard.spelt(line) != line:
        return None
    if strange := sorted(set(letters) - set(LETTERS)):
        return f"No guess: {', '.join(strange)} on no key; the keyboard's letters are {_ENDS}, in lower case."
    return f"No guess: {len(letters)} letters; a guess has {SECRET_LENGTH}."
