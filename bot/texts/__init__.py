"""The words of the bot, apart from its handlers: a notice in, HTML for one Telegram message out.

A language is one package beside ``english``, with what ``Language`` asks for.
"""

from __future__ import annotations

from bot.texts.english import COMMAND_MENU, ENGLISH
from bot.texts.language import Language, Scene
from bot.texts.wording import is_big, word

__all__ = ["COMMAND_MENU", "ENGLISH", "Language", "Scene", "is_big", "word"]
