"""A worker that is killed between its commit and its answer, again and again, with Telegram's own words in between."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from bot.fake_telegram import Moment, Stall
from bot.fake_telegram.faults import Planned
from bot.terminal.keyboard import Keyboard
from tests.cli.program import codemojex, started
from tests.cli.test_serve import Hall
from tests.waiting import wait_until

KILLS: Final = 2
_STALL_MS: Final = 60_000


def answers(hall: Hall) -> list[str]:
    return [text for text in hall.telegram.ledger.texts(hall.room) if " / 600" in text]


def struck_more_than(stalled: Planned, times: int) -> bool:
    return stalled.struck > times


@pytest.mark.case("T16")
async def test_a_worker_killed_with_its_send_unheard_scores_once_and_answers_once(
    tmp_path: Path, redis_url: str, sqlite_url: str
) -> None:
    """Each send stalls before Telegram has done anything, so the guess is committed and its answer is not there."""
    async with Hall().open() as hall:
        shared = hall.environment(REDIS_URL=redis_url, DATABASE_URL=sqlite_url, CODEMOJEX_LEASE_MS="1000")
        assert (await codemojex(tmp_path, "migrate", **shared)).code == 0
        async with started(tmp_path, "bot", **shared):
            async with started(tmp_path, "worker", **shared):
                hall.say(hall.ana, "/newgame fruits 10")
                keyboard = Keyboard.seen_in(await hall.told("Round 1"))
                assert keyboard is not None
            stalled = hall.telegram.faults.plan(Stall(_STALL_MS, Moment.BEFORE), "sendMessage", times=None)
            hall.say(hall.ben, "".join(keyboard.emoji[:6]))
            for kill in range(KILLS):
                async with started(tmp_path, "worker", **shared) as worker:
                    await wait_until(partial(struck_more_than, stalled, kill), "the answer is being sent", 60_000)
                    os.kill(worker.pid, signal.SIGKILL)
                    assert (await worker.done()).code == -signal.SIGKILL
                assert answers(hall) == []
            hall.telegram.faults.call_off()
            async with started(tmp_path, "worker", **shared) as worker:
                await hall.told(" / 600 (")
                hall.say(hall.ana, "/board")
                await hall.told("1 player · 1 guess")
                worker.send(signal.SIGTERM)
                assert (await worker.done()).code == 0
        assert len(answers(hall)) == 2, "the answer, and the board that shows the same total"
        assert sum(text.startswith(("🟢", "🟡", "🟠", "⚪")) for text in answers(hall)) == 1
