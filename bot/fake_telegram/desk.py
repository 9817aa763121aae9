"""What every method of the Bot API works with, and the questions that most of them ask first."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import Final

from bot.fake_telegram.budget import Budget
from bot.fake_telegram.calls import Call
from bot.fake_telegram.clock import monotonic_ms
from bot.fake_telegram.errors import Refused, bad_request, forbidden, too_many
from bot.fake_telegram.faults import Faults
from bot.fake_telegram.judge import Judge, Wrong
from bot.fake_telegram.ledger import Ledger
from bot.fake_telegram.messages import Json
from bot.fake_telegram.pending import Pending
from bot.fake_telegram.polling import Polling
from bot.fake_telegram.presses import Presses
from bot.fake_telegram.timing import Timing
from bot.fake_telegram.webhook import Webhook
from bot.fake_telegram.world import Chat, ChatId, ChatKind, Status, World

_PLACE: Final = {
    ChatKind.GROUP: "the group chat",
    ChatKind.SUPERGROUP: "the supergroup chat",
    ChatKind.CHANNEL: "the channel chat",
}


@dataclass(slots=True)
class Desk:
    """One bot's Bot API, but for HTTP."""

    world: World
    timing: Timing
    budget: Budget
    pending: Pending
    polling: Polling
    webhook: Webhook
    reads_all: bool
    faults: Faults = field(default_factory=Faults)
    ledger: Ledger = field(default_factory=Ledger)
    judge: Judge = field(default_factory=Judge)
    presses: Presses = field(default_factory=Presses)
    menu: list[Json] = field(default_factory=list)
    """The commands that clients offer."""
    _told_gone: dict[ChatId, int] = field(default_factory=dict)

    def readable(self, call: Call) -> Chat:
        """The chat that ``call`` asks about.

        Raises:
            Refused: there is none, or the bot can't look into it.
        """
        chat = self._find(call)
        if chat.kind is not ChatKind.PRIVATE:
            gone = self._gone(chat)
            if gone is not None and chat.kind is not ChatKind.GROUP:
                raise gone
        return chat

    def writable(self, call: Call) -> Chat:
        """The chat that ``call`` wants to change.

        Raises:
            Refused: there is none, or it moved, or the bot is out of it.
        """
        chat = self._find(call)
        if chat.migrated_to is not None:
            raise migrated(chat.migrated_to)
        gone = self._gone(chat)
        if gone is None:
            self._told_gone.pop(chat.id, None)
            return chat
        told_ms = self._told_gone.get(chat.id)
        if told_ms is None:
            self._told_gone[chat.id] = monotonic_ms()
        elif call.at_ms >= told_ms + self.budget.limits.grace_ms:
            self.judge.note(Wrong.GONE, call, gone.description)
        raise gone

    def spend(self, call: Call, chat: Chat) -> None:
        """Count a visible call to ``chat``.

        Raises:
            Refused: 429, by Telegram's budget or for one that was answered before.
        """
        now_ms = monotonic_ms()
        halt = self.budget.halted(chat, now_ms)
        if halt is not None:
            if self.budget.is_fault(halt, call.at_ms):
                self.judge.note(Wrong.HALTED, call, f"until {halt.until_ms} ms")
            raise too_many(_seconds(halt.until_ms - now_ms))
        excess = self.budget.spend(chat, now_ms)
        if excess is not None:
            seconds = _seconds(excess.free_ms - now_ms)
            self.budget.halt(chat, now_ms, seconds)
            whose = "over all chats" if excess.everywhere else "in one chat"
            limit = excess.limit
            self.judge.note(Wrong.TOO_MUCH, call, f"more than {limit.most} in {limit.window_ms} ms {whose}")
            raise too_many(seconds)

    def _find(self, call: Call) -> Chat:
        if not call.text("chat_id"):
            raise bad_request("chat_id is empty")
        chat_id = call.chat_id
        chat = self.world.chats.get(chat_id) if chat_id is not None else None
        if chat is None:
            raise bad_request("chat not found")
        return chat

    def _gone(self, chat: Chat) -> Refused | None:
        if chat.kind is ChatKind.PRIVATE:
            return forbidden("bot was blocked by the user") if chat.blocked else None
        status = chat.status(self.world.bot)
        if status is Status.KICKED:
            return forbidden(f"bot was kicked from {_PLACE[chat.kind]}")
        if status is Status.LEFT:
            return forbidden(f"bot is not a member of {_PLACE[chat.kind]}")
        return None


def migrated(to: Chat) -> Refused:
    """A small group that is a supergroup now."""
    return bad_request("group chat was upgraded to a supergroup chat", {"migrate_to_chat_id": to.id})


def _seconds(ms: int) -> int:
    return max(1, ceil(ms / 1_000))
