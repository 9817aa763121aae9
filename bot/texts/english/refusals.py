"""Why a message was not taken, and what to do next; never whose fault it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from bot.names import isolated
from bot.texts.english.words import count, span
from bot.texts.language import Scene
from engine.game.model import MAX_MINUTES, MIN_MINUTES, SECRET_LENGTH
from engine.game.notices import Refusal, Refused

_SHOWN_CHARACTERS: Final = 40


def refused(notice: Refused, scene: Scene) -> str:
    """One friendly line."""
    words = _WORDS[notice.reason]
    return words if isinstance(words, str) else words(notice, scene)


def _wrong_count(notice: Refused, _scene: Scene) -> str:
    seen = f"I see {count(notice.got, 'emoji', 'emoji')}" if notice.got else "I see no emoji there"
    return f"🔢 {seen}, and a guess has {notice.wanted or SECRET_LENGTH}. /board shows the keyboard"


def _unknown_emoji(notice: Refused, _scene: Scene) -> str:
    unknown = " ".join(isolated(one[:_SHOWN_CHARACTERS]) for one in notice.words)
    verb = "aren't" if len(notice.words) > 1 else "isn't"
    return f"🔍 {unknown or 'That'} {verb} on this round's keyboard. /board shows what is"


def _too_long(notice: Refused, _scene: Scene) -> str:
    return f"✂️ That is {count(notice.got or 0, 'character')} long. Six emoji from the keyboard are all I need!"


def _room_paused(_notice: Refused, scene: Scene) -> str:
    return f"⏸️ The game is paused here. {'Send /resume' if scene.private else 'An admin can send /resume'} to go on"


def _room_full(notice: Refused, _scene: Scene) -> str:
    when = "soon" if notice.eta_ms is None else f"in about {span(notice.eta_ms)}"
    waiting = count(notice.got or 0, "guess is", "guesses are")
    return f"🚦 {waiting} in line here already, and no more fit. Please try again {when}"


def _unknown_theme(notice: Refused, _scene: Scene) -> str:
    themes = ", ".join(isolated(name) for name in notice.words)
    return f"🎨 That theme isn't one of mine. I have: {themes or 'none'}"


def _above_allowed(notice: Refused, _scene: Scene) -> str:
    wanted = notice.wanted or 1
    return f"⚙️ {notice.got or 0:,} is more than this chat may have. The highest is {wanted:,}: /limit {wanted}"


_WORDS: Final[Mapping[Refusal, str | Callable[[Refused, Scene], str]]] = MappingProxyType(
    {
        Refusal.WRONG_COUNT: _wrong_count,
        Refusal.UNKNOWN_EMOJI: _unknown_emoji,
        Refusal.TOO_LONG: _too_long,
        Refusal.NO_ROUND: "🎲 No round is running here. Start one with /newgame",
        Refusal.ROUND_CLOSING: "🏁 This round has just closed. Its result is on the way, then /newgame opens the next",
        Refusal.ROUND_RUNNING: "🎯 A round is already running: join in! /board shows it",
        Refusal.ROOM_PAUSED: _room_paused,
        Refusal.NOT_PAUSED: "▶️ The game isn't paused. Guess away!",
        Refusal.ALREADY_PAUSED: "⏸️ The game is paused already. /resume goes on",
        Refusal.CANNOT_PAUSE_CLOSING: "🏁 This round is just closing, so there is nothing left to pause",
        Refusal.ROOM_FULL: _room_full,
        Refusal.NOT_ADMIN: "🔑 Only this chat's admins can do that. Ask one of them?",
        Refusal.ANONYMOUS: (
            "🎭 Anonymous admins can't play, as there is no name to put on the board. "
            "Switch off “Remain anonymous” and guess again!"
        ),
        Refusal.UNKNOWN_THEME: _unknown_theme,
        Refusal.BAD_MINUTES: (
            f"⏱️ A round lasts {MIN_MINUTES} to {MAX_MINUTES:,} whole minutes: "
            "/newgame 10, or with a theme, /newgame fruits 10"
        ),
        Refusal.BAD_LIMIT: "⚙️ The limit is a whole number from 1 up, like /limit 4",
        Refusal.LIMIT_ABOVE_ALLOWED: _above_allowed,
    }
)
