"""The short ones: answers, levers, a player's record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.texts.english.words import FULL_SCORE, count, guesses, ordinal, score
from bot.texts.language import Scene
from bot.texts.markup import bold
from engine.game.notices import Answer, LeverPulled, Profile
from engine.game.scoring import percent

OUTAGE: Final = (
    "🛠️ I can't get at my notes right now. What you send is kept, and I answer it as soon as I have them again; "
    "there is no need to send it twice."
)


def answer(notice: Answer, scene: Scene) -> str:
    """``🟢 Ana: 560 / 600 (93%)``."""
    line = f"{bold(scene.name(notice.player))}: {score(notice.total, notice.percent)}"
    if not notice.counted:
        return f"⌛ {line} – the round was already over, so this one doesn't count"
    if notice.total == FULL_SCORE:
        return f"🎉 {line} – cracked it!"
    return f"{_warmth(notice.total)} {line}"


def answers(notices: Sequence[Answer], scene: Scene) -> str:
    """``🟢 Ana: 240 · 560 · 480 / 600``."""
    totals = [notice.total for notice in notices]
    shown = " · ".join(map(str, totals))
    return f"{_warmth(max(totals))} {bold(scene.name(notices[0].player))}: {shown} / {FULL_SCORE}"


def answers_in_short(notices: Sequence[Answer], scene: Scene) -> str:
    """``🟢 Ana: 1,240 guesses, the best 560, the last 300 / 600``."""
    totals = [notice.total for notice in notices]
    name = bold(scene.name(notices[0].player))
    return (
        f"{_warmth(max(totals))} {name}: {guesses(len(totals))}, the best {max(totals)}, the last {totals[-1]} / "
        f"{FULL_SCORE}"
    )


def _warmth(total: int) -> str:
    if total >= 480:
        return "🟢"
    if total >= 300:
        return "🟡"
    return "🟠" if total > 0 else "⚪"


def lever_pulled(notice: LeverPulled, scene: Scene) -> str:
    """What an admin changed."""
    del scene
    if notice.lever == "pause":
        waiting = f" {guesses(notice.waiting)} already in line will be scored after that." if notice.waiting else ""
        return f"⏸️ {bold('Paused.')} The clock stands still until an admin sends /resume.{waiting}"
    if notice.lever == "resume":
        waiting = f" First come the {guesses(notice.waiting)} that waited." if notice.waiting else ""
        return f"▶️ {bold('On we go!')} The clock runs again.{waiting}"
    return f"⚙️ From now on at most {bold(guesses(notice.limit or 0))} of this chat are worked on at once."


def profile(notice: Profile, scene: Scene) -> str:
    """A player's own record, in the newest round and in the room."""
    lines = [f"👤 {bold(scene.name(notice.player))}"]
    if notice.line is None:
        lines.append("🎯 This round: no guess yet. Your first one is waiting!")
    else:
        line = notice.line
        lines.append(
            f"🎯 This round: {ordinal(line.rank)} of {notice.players_total}, "
            f"best {score(line.best_total, line.percent)}, {guesses(line.guesses)}"
        )
    if notice.room_guesses:
        best = score(notice.room_best_total, percent(notice.room_best_total))
        lines.append(
            f"🏠 All rounds here: {count(notice.room_wins, 'win')}, best {best}, {guesses(notice.room_guesses)}"
        )
    return "\n".join(lines)
