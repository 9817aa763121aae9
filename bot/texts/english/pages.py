"""The pages that depend on nothing but their name, and the menu of commands."""

from __future__ import annotations

from typing import Final

from bot.texts.english.rounds import how_to_guess
from bot.texts.language import Scene
from bot.texts.markup import bold
from engine.game.notices import Page
from engine.game.themes import THEMES

COMMAND_MENU: Final = (
    ("newgame", "Start a round: theme and minutes, if you like"),
    ("g", "Guess: /g and six emoji"),
    ("board", "The standings and the keyboard"),
    ("me", "Your own record"),
    ("rules", "How scoring works, and why it is fair"),
    ("help", "All commands"),
    ("pause", "Admins: stop the clock and take no guesses"),
    ("resume", "Admins: go on"),
    ("endgame", "Admins: end the round now"),
    ("limit", "Admins: guesses worked on at once"),
)


def page(page_: Page, scene: Scene) -> str:
    """A fixed page."""
    match page_:
        case Page.START:
            return _start(scene)
        case Page.HELP:
            return _help(scene)
        case Page.RULES:
            return _rules()


def _start(scene: Scene) -> str:
    where = "Add me to a group to play together, or play right here." if scene.private else "Everybody here can play."
    return "\n".join(
        [
            f"👋 {bold('Welcome to Codemojex!')}",
            "",
            "I hide six emoji in a secret order. You guess, I say how close you came, and the first to crack it wins.",
            where,
            "",
            "🎲 /newgame – start a round",
            "📖 /rules – how scoring works",
            "💡 /help – everything I can do",
        ]
    )


def _help(scene: Scene) -> str:
    lines = [
        f"💡 {bold('How to play')}",
        "",
        "🎲 /newgame – start a round. You can name a theme, minutes, or both: /newgame fruits 10",
        f"Themes: {', '.join(THEMES)}",
        f"🎯 {how_to_guess(scene)}" + (" /g and six emoji works too." if scene.hears_all else ""),
        "📊 /board – the standings and the keyboard",
        "👤 /me – your own record",
        "📖 /rules – scoring, and why it is fair",
        "",
        bold("For you alone, as this chat is yours" if scene.private else "For this chat's admins"),
        "⏸️ /pause and ▶️ /resume – stop the clock, and go on",
        "🛑 /endgame – end the round now",
        "⚙️ /limit 4 – how many guesses of this chat are worked on at once",
    ]
    return "\n".join(lines)


_TABLE: Final = """\
right place    100
1 step away     80
2 steps away    60
3 steps away    40
4 steps away    20
5 steps away     0
not in it        0"""


def _rules() -> str:
    return f"""\
📖 {bold("The rules")}

The secret is six different emoji of the keyboard, in order. Each emoji of your guess scores by itself:
<pre>{_TABLE}</pre>
The six together make 0 to 600, and 600 cracks it. You may repeat an emoji in a guess: each one scores.

🏆 The first guess that cracks it wins, in the order I received them, however busy it gets.
📊 On the board your best total counts; of equals, whoever got there first is ahead.

⚖️ {bold("A fair turn")}: chats take turns, and so do their players. Flooding gains nobody anything.
🔒 {bold("A fair secret")}: when a round opens I publish its seal, the SHA-256 of the secret and a random nonce. \
When it ends I publish both, so you can check that I never changed my mind."""
