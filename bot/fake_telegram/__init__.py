"""A strict Bot API of our own, over real HTTP: for tests, and for loads that must not reach Telegram.

async with FakeTelegram().serving() as telegram:
ana = telegram.world.user("Ana")
room = telegram.world.supergroup("Room", ana)
...  # start a bot whose Bot API is telegram.url and whose token is telegram.token
telegram.crowd.say(ana, room, "/newgame")
await telegram.pending.emptied()
telegram.assert_clean()
"""

from __future__ import annotations

from bot.fake_telegram.budget import NO_LIMITS, Limit, Limits
from bot.fake_telegram.fake import TOKEN, FakeTelegram
from bot.fake_telegram.faults import Moment, Reset, Slow, Stall, broken, flood, refusal
from bot.fake_telegram.judge import Wrong
from bot.fake_telegram.ledger import Shown
from bot.fake_telegram.membership import Sign
from bot.fake_telegram.timing import Timing
from bot.fake_telegram.world import Chat, ChatKind, Status, User

__all__ = [
    "NO_LIMITS",
    "TOKEN",
    "Chat",
    "ChatKind",
    "FakeTelegram",
    "Limit",
    "Limits",
    "Moment",
    "Reset",
    "Shown",
    "Sign",
    "Slow",
    "Stall",
    "Status",
    "Timing",
    "User",
    "Wrong",
    "broken",
    "flood",
    "refusal",
]
