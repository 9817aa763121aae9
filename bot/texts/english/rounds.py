"""The big ones: a round opens, is looked at, and is revealed."""

from __future__ import annotations

from collections.abc import Sequence

from bot.texts.english.words import count, guesses, place, score, span, title
from bot.texts.language import Scene
from bot.texts.markup import bold, code, folded, rows
from engine.game.model import CloseReason, RoundState
from engine.game.notices import Board, Line, RoundOpened, RoundRevealed
from engine.game.themes import theme


def round_opened(notice: RoundOpened, scene: Scene) -> str:
    """The keyboard, how to guess, how long, and the seal."""
    set_ = theme(notice.theme)
    return "\n".join(
        [
            f"🎲 {title(notice.number, set_.title)}",
            "",
            "I picked six different emoji from this keyboard and put them in a secret order:",
            "",
            rows([set_.emoji_of(key) for key in notice.keyboard]),
            "",
            f"{how_to_guess(scene)} You have {bold(span(notice.minutes * 60_000))}.",
            "Right emoji, right place: 100. Each step away costs 20. 600 cracks it. More in /rules",
            "",
            f"🔒 Sealed: {code(notice.commitment)}",
        ]
    )


def how_to_guess(scene: Scene) -> str:
    """What to type, given what the bot can hear."""
    if scene.private:
        return "Send me six emoji."
    if scene.hears_all:
        return "Send six emoji to guess, any time, as often as you like."
    return "Reply to this message with six emoji, or send /g and six emoji."


def round_revealed(notice: RoundRevealed, scene: Scene) -> str:
    """Who won, what the secret was, who came how far, and how to check the seal."""
    set_ = theme(notice.theme)
    lines = [
        f"🏁 {title(notice.number, set_.title)} is over",
        "",
        _ending(notice, scene),
        f"The secret was {set_.show(notice.secret)}",
        "",
    ]
    if notice.lines:
        lines += [bold("Final standings"), *_standings(notice.lines, scene), ""]
    lines += [_proof(notice), "Another one? /newgame"]
    return "\n".join(lines)


def _ending(notice: RoundRevealed, scene: Scene) -> str:
    if notice.winner is not None:
        return f"🏆 {bold(scene.name(notice.winner))} cracked it!"
    if notice.reason is CloseReason.ENDED:
        return "🛑 An admin ended it, and nobody had cracked it."
    return "⏰ Time is up, and nobody cracked it this time."


def _proof(notice: RoundRevealed) -> str:
    # printf reads \036 as the byte 0x1E that joins the codes and the nonce.
    check = "printf '" + "\\036".join((*notice.secret, notice.nonce)) + "' | sha256sum"
    return folded(
        f"🔓 {bold('Check the seal')}\n"
        "Hash the six emoji codes and the nonce below: it gives what was sealed when the round opened.\n"
        f"Codes: {code(' '.join(notice.secret))}\n"
        f"Nonce: {code(notice.nonce)}\n"
        f"Sealed: {code(notice.commitment)}\n"
        f"{code(check)}"
    )


def board(notice: Board, scene: Scene) -> str:
    """The standings of the newest round, with its keyboard while it runs."""
    set_ = theme(notice.theme)
    lines = [f"📊 {title(notice.number, set_.title)}", _stage(notice), ""]
    if notice.state is RoundState.OPEN:
        lines += [rows([set_.emoji_of(key) for key in notice.keyboard]), ""]
    if notice.lines:
        lines += [*_standings(notice.lines, scene), ""]
        more = notice.players_total - len(notice.lines)
        tail = f", {more:,} of them further down" if more > 0 else ""
        lines.append(f"👥 {count(notice.players_total, 'player')}{tail} · {guesses(notice.guesses_total)}")
    else:
        lines.append("Nobody has guessed yet – be the first!")
    return "\n".join(lines)


def _stage(notice: Board) -> str:
    if notice.state is RoundState.SETTLED:
        return "🏁 Over. A new one: /newgame"
    if notice.state is RoundState.CLOSING:
        return "🏁 Closing: the last guesses are being scored"
    left = span(notice.remaining_ms or 0)
    return f"⏸️ Paused, {left} on the clock" if notice.paused else f"⏳ {left} left"


def _standings(lines: Sequence[Line], scene: Scene) -> list[str]:
    return [
        f"{place(line.rank)} {bold(scene.name(line.player))} – "
        f"{score(line.best_total, line.percent)}, {guesses(line.guesses)}"
        for line in lines
    ]
