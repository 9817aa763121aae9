"""Every handler of the bot, in the order they are asked: they translate, the game decides.

New messages only: an edit is no guess and no command, and neither is a channel's post.
"""

from __future__ import annotations

from typing import Any, Final

from telegram import Update
from telegram.ext import BaseHandler, ChatMemberHandler, CommandHandler, MessageHandler, TypeHandler, filters

from bot.context import Context
from bot.handlers.answering import Callback, for_admins, for_everyone
from bot.handlers.chats import membership_changed, migrated, topic_reopened
from bot.handlers.guesses import guess, guess_plainly
from bot.handlers.levers import limit, pause, resume
from bot.handlers.rounds import endgame, newgame
from bot.handlers.views import board, help_, me, rules, start
from bot.receipts import leave
from engine.game.request import Receipt

ALLOWED_UPDATES: Final = ("message", "my_chat_member")
"""The kinds of updates that some handler here can use."""

_REOPENED: Final = filters.StatusUpdate.FORUM_TOPIC_REOPENED | filters.StatusUpdate.GENERAL_FORUM_TOPIC_UNHIDDEN

COMMANDS: Final[dict[str, Callback]] = {
    "g": guess,
    "newgame": for_everyone(newgame),
    "board": for_everyone(board),
    "me": for_everyone(me),
    "rules": for_everyone(rules),
    "help": for_everyone(help_),
    "start": for_everyone(start),
    "pause": for_admins(pause),
    "resume": for_admins(resume),
    "limit": for_admins(limit),
    "endgame": for_admins(endgame),
}


def handlers() -> list[BaseHandler[Update, Context, Any]]:
    """All of them, for one group of the application. Plain guesses come first: most messages are guesses."""
    new = filters.UpdateType.MESSAGE
    return [
        MessageHandler(new & filters.TEXT & ~filters.COMMAND, guess_plainly),
        *(CommandHandler(name, callback, filters=new) for name, callback in COMMANDS.items()),
        ChatMemberHandler(membership_changed, ChatMemberHandler.MY_CHAT_MEMBER),
        MessageHandler(new & filters.StatusUpdate.MIGRATE, migrated),
        MessageHandler(new & _REOPENED, topic_reopened),
        TypeHandler(Update, pass_over),
    ]


async def pass_over(_update: Update, _context: Context) -> None:
    """What nobody handles (an edit, a join, another bot's command) needs nothing kept."""
    leave(Receipt.REFUSED)
