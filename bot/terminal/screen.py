"""What the chat shows, on a terminal: a block per message, a header line saying who, then the indented words."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Final

from bot.terminal.chat import Said
from bot.terminal.markup import Span, Style, printable

_REMEMBERED: Final = 1_000
_INDENT: Final = "  "
_RESET: Final = "\x1b[0m"
_SGR: Final = {
    Style.BOLD: "1",
    Style.ITALIC: "3",
    Style.UNDERLINE: "4",
    Style.STRIKE: "9",
    Style.SPOILER: "7",
    Style.CODE: "36",
    Style.LINK: "4",
    Style.QUOTE: "2",
}
_NAME_COLOURS: Final = ("33", "35", "36", "34", "31", "93", "95", "96")
_BOT_COLOUR: Final = "32"


class Screen:
    """Writes messages as blocks with an empty line after each.

    Only ``secret`` ever writes a line that starts with ``secret: ``: words are indented, and a header that may hold
    any name starts with the message's number.

    Args:
        write: where text goes; each call is one whole block.
        numbered: a header says the number of its message, and of the one it answers; else whom it answers.
        coloured: whether the looks and the names' colours are shown.
    """

    def __init__(self, write: Callable[[str], None], *, numbered: bool, coloured: bool) -> None:
        self._write = write
        self._numbered = numbered
        self._coloured = coloured
        self._names: OrderedDict[int, str] = OrderedDict()
        self._order: dict[int, int] = {}

    def show(self, said: Said) -> None:
        """Show a message."""
        name = " ".join(printable(said.author.name).split())
        self._remember(said.id, name)
        colour = _BOT_COLOUR if said.by_bot else self._colour_of(said.author.account_ref)
        number = f"[{'bot' if said.by_bot else said.id}] " if self._numbered else ""
        header = f"{number}{self._look(name, f'1;{colour}')}{self._look(self._note(said), '2')}"
        words = "".join(self._styled(said.spans)).strip("\n")
        self._write("\n".join([header, *(f"{_INDENT}{line}" for line in words.split("\n")), "", ""]))

    def secret(self, emoji: str) -> None:
        """Show an open round's secret; whoever plays asked for it."""
        self._write(f"secret: {emoji}\n\n")

    def hint(self, text: str) -> None:
        """Show a line of the program's own."""
        self._write(self._look(text, "2") + "\n\n")

    def _colour_of(self, account_ref: int) -> str:
        """Colours in the order in which people first speak: the first eight all differ."""
        order = self._order.setdefault(account_ref, len(self._order))
        return _NAME_COLOURS[order % len(_NAME_COLOURS)]

    def _note(self, said: Said) -> str:
        answered = said.reply_to if self._numbered else self._names.get(said.reply_to or 0)
        return "" if answered is None else f" (answers {answered})"

    def _remember(self, message_id: int, name: str) -> None:
        self._names[message_id] = name
        if len(self._names) > _REMEMBERED:
            self._names.popitem(last=False)

    def _styled(self, spans: Iterable[Span]) -> Iterable[str]:
        for span in spans:
            codes = ";".join(sorted(_SGR[style] for style in span.styles))
            # A look ends with its line: what follows is indented.
            yield "\n".join(self._look(line, codes) for line in printable(span.text).split("\n"))

    def _look(self, text: str, codes: str) -> str:
        return f"\x1b[{codes}m{text}{_RESET}" if self._coloured and codes and text else text
