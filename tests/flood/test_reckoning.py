"""What chats showed, held against what was scored."""

from __future__ import annotations

import pytest

from bot.fake_telegram import Shown
from bot.fake_telegram.calls import Call
from bot.fake_telegram.ledger import Entry, Ledger
from bot.fake_telegram.world import ChatId
from bot.flood.reckoning import Key, count_told
from bot.flood.samples import Fate, Guess, Phase

ONE = "🟠 \u2068R3P1\u2069: 160 / 600 (27%)"
SEVERAL = "🟠 \u2068R3P1\u2069: 160 · 0 · 20 / 600"
MANY = "🟠 \u2068R3P1\u2069: 1,240 guesses, the best 560, the last 300 / 600"


def shown(*texts: str) -> Ledger:
    ledger = Ledger()
    call = Call("sendMessage", {}, 0)
    ledger.entries = [Entry(Shown.SENT, ChatId(7), at, text, None, 0, 0, 0, call) for at, text in enumerate(texts)]
    return ledger


def said(scored: int, *, unsent: int = 0, player: int = 1) -> dict[Key, Guess]:
    """Guesses of one player that were scored; SQL calls the answers of ``unsent`` of them unsent."""
    return {
        (7, 100_000 * player + at): Guess(
            3, Phase.FLOOD, 0.0, Fate.SCORED, 1.0, None if at < unsent else 2.0, player=player
        )
        for at in range(scored)
    }


@pytest.mark.parametrize(("text", "answers"), [(ONE, 1), (SEVERAL, 3), (MANY, 1_240), (f"{ONE}\n{SEVERAL}", 4)])
def test_a_line_tells_how_many_guesses_it_answers(text: str, answers: int) -> None:
    assert count_told(shown(text), said(answers), settled=True) == (0, 0)
    assert count_told(shown(text), said(answers + 2), settled=True) == (0, 2)
    assert count_told(shown(text), said(answers - 1), settled=True) == (1, 0)


def test_what_one_player_is_not_told_hides_nothing_that_another_is_told_twice() -> None:
    both = said(1) | said(1, player=2)
    assert count_told(shown(ONE, ONE), both, settled=True) == (1, 1)


def test_an_answer_that_is_shown_and_not_marked_yet_is_due() -> None:
    assert count_told(shown(ONE), said(1, unsent=1), settled=False) == (0, 0)
    assert count_told(shown(ONE), said(1, unsent=1), settled=True) == (1, 0)


def test_nobody_is_called_untold_while_answers_are_on_their_way() -> None:
    assert count_told(shown(), said(5), settled=False) == (0, 0)
