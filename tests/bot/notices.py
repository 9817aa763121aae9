"""Notices as the delivery worker hands them to a messenger."""

from __future__ import annotations

from engine.game.model import RoundState
from engine.game.notices import Answer, Board, Notice
from engine.game.ports import OutboxItem
from engine.game.themes import theme
from engine.ids import ChatId, Minter, NoticeId, PlayerId
from tests.bot.making import GROUP

minter = Minter(7)
PLAYER = PlayerId(minter.mint("PLR"))
CHAT = ChatId(minter.mint("CHT"))


def answer(total: int = 560) -> Answer:
    return Answer(PLAYER, total, total // 6, counted=True)


def item(
    notice: Notice, *, name: str = "Ana", reply_to: int | None = 5, thread: int = 0, chat: int = GROUP
) -> OutboxItem:
    id_ = NoticeId(minter.mint("NOT"))
    names = dict.fromkeys(notice.players(), name)
    return OutboxItem(id_, CHAT, chat, chat > 0, thread, notice, reply_to, names)


def board() -> Board:
    keys = theme("fruits").codes[:16]
    return Board(
        1,
        "fruits",
        keys,
        RoundState.OPEN,
        paused=False,
        remaining_ms=60_000,
        lines=(),
        players_total=0,
        guesses_total=0,
    )
