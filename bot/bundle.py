"""Puts notices of one chat into one message: as many from the front as fit, each on its line, in order.

Where lines for all of them don't fit, a player's answers share a line, and so do players who are told the same. Where
that does not fit either, a player's answers are told in short. So a flood is answered whole, and in few messages.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from telegram.constants import MessageLimit

from bot.texts import Language, Scene, is_big, word
from bot.texts.markup import entities, units
from engine.game.notices import Answer, Board, Notice, PageShown, Refused
from engine.game.ports import OutboxItem
from engine.game.scoring import WINNING_TOTAL

_LONGEST: Final = MessageLimit.MAX_TEXT_LENGTH
_MOST_ENTITIES: Final = MessageLimit.MESSAGE_ENTITIES
_SUPERGROUPS: Final = -1_000_000_000_000
"""A supergroup's id is this minus the number in its messages' addresses."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """One message: its HTML, how many notices from the front it says, and the message it replies to, if to one."""

    text: str
    count: int
    reply_to: int | None


class Bundler:
    """Finds words for notices.

    Args:
        language: the words.
        hears_all: whether the bot reads every message of a group.
    """

    def __init__(self, language: Language, hears_all: Callable[[], bool]) -> None:
        self._language = language
        self._hears_all = hears_all

    def bundle(self, items: Sequence[OutboxItem]) -> Bundle:
        """One message of ``items`` (at least one), all of one chat and one thread. A big notice stands alone."""
        again = _said_again(items)
        items = items[again - 1 :]
        first = items[0]
        if not is_big(first.notice):
            items = list(takewhile(lambda item: not is_big(item.notice), items))
            text, count = self._lines(items)
            if count < len(items):
                text, count = self._all_shared(items) or max(
                    (text, count),
                    self._shared_lines(items, in_short=False),
                    self._shared_lines(items, in_short=True),
                    key=lambda said: said[1],
                )
            if count > 1:
                return Bundle(text, count, None)
        return Bundle(word(first.notice, self._scene(first), self._language), again, first.reply_to)

    def _lines(self, items: Sequence[OutboxItem]) -> tuple[str, int]:
        page = _Page()
        for number, item in enumerate(items):
            if not page.put(number, self._among_others(item)):
                break
        return page.text, len(page.lines)

    def _all_shared(self, items: Sequence[OutboxItem]) -> tuple[str, int] | None:
        """All of ``items`` on shared lines, each written once, in full or else in short; None where they don't fit."""
        shared: dict[Hashable, list[OutboxItem]] = {}
        for item in items:
            shared.setdefault(self._shares(item), []).append(item)
        for in_short in (False, True):
            page = _Page()
            if all(page.put(key, self._for_all(those, in_short=in_short)) for key, those in shared.items()):
                return page.text, len(items)
        return None

    def _shared_lines(self, items: Sequence[OutboxItem], *, in_short: bool) -> tuple[str, int]:
        """As many of ``items`` from the front as fit on shared lines."""
        page = _Page()
        shared: dict[Hashable, list[OutboxItem]] = {}
        for count, item in enumerate(items):
            key = self._shares(item)
            those = shared.setdefault(key, [])
            those.append(item)
            if not page.put(key, self._for_all(those, in_short=in_short)):
                return page.text, count
        return page.text, len(items)

    def _shares(self, item: OutboxItem) -> Hashable:
        """What notices have in common that may share a line; nothing else has it."""
        match item.notice:
            case Answer(counted=True, total=total, player=player) if total < WINNING_TOTAL:
                return player
            case Refused(player=player) if player is not None:
                return word(item.notice, self._scene(item), self._language)
            case _:
                return item.id, ""

    def _for_all(self, those: Sequence[OutboxItem], *, in_short: bool) -> str:
        last = those[-1]
        answers = [item.notice for item in those if isinstance(item.notice, Answer)]
        if len(those) == 1:
            return self._among_others(last)
        if answers:
            say = self._language.answers_in_short if in_short else self._language.answers
            return say(answers, self._scene(last))
        scenes = [(item.notice, self._scene(item)) for item in those]
        names = [scene.name(player) for notice, scene in scenes for player in notice.players()]
        line = word(last.notice, self._scene(last), self._language)
        return self._language.whose(line, ", ".join(dict.fromkeys(names)), None)

    def _among_others(self, item: OutboxItem) -> str:
        scene = self._scene(item)
        line = word(item.notice, scene, self._language)
        if isinstance(item.notice, Refused) and item.notice.player is not None:
            return self._language.whose(line, scene.name(item.notice.player), _message_url(item))
        return line

    def _scene(self, item: OutboxItem) -> Scene:
        return Scene(item.private, self._hears_all(), item.names)


class _Page:
    """Lines that fit into one message."""

    def __init__(self) -> None:
        self.lines: dict[Hashable, str] = {}
        self._sizes: dict[Hashable, tuple[int, int]] = {}
        self._length = -1
        self._marks = 0

    @property
    def text(self) -> str:
        return "\n".join(self.lines.values())

    def put(self, key: Hashable, line: str) -> bool:
        """Write ``line``, in place of the one that ``key`` had; False where it doesn't fit, and nothing is changed."""
        had_length, had_marks = self._sizes.get(key, (0, 0))
        size = units(line) + 1, entities(line)
        length, marks = self._length - had_length + size[0], self._marks - had_marks + size[1]
        if length > _LONGEST or marks > _MOST_ENTITIES:
            return False
        self.lines[key], self._sizes[key], self._length, self._marks = line, size, length, marks
        return True


def _said_again(items: Sequence[OutboxItem]) -> int:
    """How many notices from the front the last of them says as well: of boards asked for at once, one is enough."""
    first = items[0].notice
    if not isinstance(first, Board | PageShown):
        return 1
    return len(list(takewhile(lambda item: _replaces(item.notice, first), items)))


def _replaces(later: Notice, earlier: Board | PageShown) -> bool:
    if isinstance(later, Board) and isinstance(earlier, Board):
        return later.number == earlier.number
    return later == earlier


def _message_url(item: OutboxItem) -> str | None:
    """Where the message that ``item`` answers can be seen; only messages of supergroups have an address."""
    if item.reply_to is None or item.chat_ref > _SUPERGROUPS:
        return None
    return f"https://t.me/c/{_SUPERGROUPS - item.chat_ref}/{item.reply_to}"
