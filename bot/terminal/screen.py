"""What the chat shows, on a terminal: a block per message, a header line saying who, then the indented words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from bot.terminal.chat import Said
from bot.terminal.markup import Span, Style, printable

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

    Only ``secret`` ever writes a line that starts with ``secret: ``: words are indented, and a header starts with
    the message's number.

    Args:
        write: where text goes; each call is one whole block.
        coloured: whether the looks and the names' colours are shown.
    """

    def __init__(self, write: Callable[[str], None], *, coloured: bool) -> None:
        self._write = write
        self._coloured = coloured

    def show(self, said: Said) -> None:
        """Show a message."""
        name = printable(said.author.name).replace("\n", " ")
        colour = _BOT_COLOUR if said.by_bot else _NAME_COLOURS[said.author.account_ref % len(_NAME_COLOURS)]
        notes = [f"answers {said.reply_to}"] if said.reply_to is not None else []
        notes += ["edited"] if said.edited else []
        note = f" ({', '.join(notes)})" if notes else ""
        header = f"[{said.id}] {self._look(name, f'1;{colour}')}{self._look(note, '2')}"
        words = "".join(self._styled(said.spans)).strip("\n")
        self._write("\n".join([header, *(f"{_INDENT}{line}" for line in words.split("\n")), "", ""]))

    def secret(self, emoji: str) -> None:
        """Show an open round's secret; whoever plays asked for it."""
        self._write(f"secret: {emoji}\n\n")

    def hint(self, text: str) -> None:
        """Show a line of the program's own."""
        self._write(self._look(text, "2") + "\n\n")

    def _styled(self, spans: Iterable[Span]) -> Iterable[str]:
        for span in spans:
            codes = ";".join(sorted(_SGR[style] for style in span.styles))
            # A look ends with its line: what follows is indented.
            yield "\n".join(self._look(line, codes) for line in printable(span.text).split("\n"))

    def _look(self, text: str, codes: str) -> str:
        return f"\x1b[{codes}m{text}{_RESET}" if self._coloured and codes and text else text
