"""The judge of one round of chaos: the ledger against SQL against the lanes, once nothing is left to do."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from bot.events import SEND_UNCERTAIN
from bot.fake_telegram import Wrong
from engine.game.scoring import WINNING_TOTAL
from tests.chaos.ground import WORKERS, Ground
from tests.chaos.rooms import Room, Said, Shown
from tests.chaos.watching import at_rest

_MESSAGES_OPEN: Final = 8
"""Chats that one worker speaks to at once: so many messages a kill can have said twice."""
_EXCUSED_S: Final = 150.0
"""A window of Telegram's, and the longest round."""
_SHOWN: Final = 6
_GUESSES: Final = """
SELECT guesses.*, chats.chat_ref AS room_ref FROM guesses JOIN rounds ON rounds.id = guesses.round
JOIN rooms ON rooms.id = rounds.room JOIN chats ON chats.id = rooms.chat"""


@dataclass(slots=True)
class Findings:
    """What a round came to. ``again`` and ``missed`` are what section 7 of the design allows."""

    breaches: list[str] = field(default_factory=list)
    again: int = 0
    """Messages that told something once more."""
    refused: int = 0
    """Messages more than Telegram bears, each answered 429: what was sent without Redis is on no common account."""
    missed: int = 0
    """Answers that a chat never saw, since their send was uncertain."""

    def breach(self, what: str, which: Sequence[object]) -> None:
        """Note what must not be, with the first of those it is about."""
        if which:
            self.breaches.append(f"{len(which)} {what}: {'; '.join(map(str, which[:_SHOWN]))}")


@dataclass(slots=True)
class Judge:
    """Judges the rounds of one ground, one after another."""

    ground: Ground
    said: dict[tuple[int, int], Said] = field(default_factory=dict)
    """Every guess since the ground began."""

    async def judge(self, said: Sequence[Said], cracked: Room | None, since: int, logged: dict[str, int]) -> Findings:
        """Compare everything.

        Args:
            said: the round's guesses.
            cracked: the room whose secret was said.
            since: where the ledger's entries of the round begin.
            logged: how much each process had logged when the round began.
        """
        findings = Findings()
        self.said.update((guess.key, guess) for guess in said)
        rows = await self.ground.rows(_GUESSES)
        self._scored_once(rows, findings)
        await self._standings(rows, findings)
        await self._answered(said, since, logged, findings)
        await self._outbox(findings)
        if cracked is not None:
            await self._settled(cracked, since, logged, findings)
        findings.breaches += await at_rest(self.ground)
        self._borne(findings)
        ended = [name for name, process in self.ground.processes.items() if process.pid is None and process.ready]
        findings.breach("processes ended by themselves", ended)
        return findings

    def _borne(self, findings: Findings) -> None:
        """What Telegram does not bear; see decision 21 for what may happen for a minute after Redis was away."""
        telegram = self.ground.telegram.judge
        excused = time.monotonic() - self.ground.redis_missed_at_s < _EXCUSED_S
        allowed = [breach for breach in telegram.breaches if excused and breach.wrong is Wrong.TOO_MUCH]
        findings.refused = len(allowed)
        findings.breach("things that Telegram does not bear", [it for it in telegram.breaches if it not in allowed])
        telegram.breaches.clear()

    def _scored_once(self, rows: Sequence[Any], findings: Findings) -> None:
        found = Counter((row["chat_ref"], row["message_ref"]) for row in rows)
        unscored = [guess for key, guess in self.said.items() if not found[key]]
        waiting = [guess for guess in unscored if guess.message.update in self.ground.telegram.pending]
        findings.breach("guesses are not acknowledged", waiting)
        findings.breach("acknowledged guesses are lost", [guess for guess in unscored if guess not in waiting])
        findings.breach("guesses are scored twice", [key for key, times in found.items() if times > 1])
        findings.breach("guesses of nobody", [key for key in found if key not in self.said])
        wrong = [
            f"{self.said[key]}: {row['codes']} came to {row['total']}, counted {row['counted']}"
            for row in rows
            if (key := (row["chat_ref"], row["message_ref"])) in self.said
            if (tuple(row["codes"].split()), row["total"], row["counted"], row["room_ref"])
            != (self.said[key].codes, self.said[key].total, True, key[0])
        ]
        findings.breach("guesses have a wrong row", wrong)

    async def _standings(self, rows: Sequence[Any], findings: Findings) -> None:
        """Count anew what is counted."""
        best: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        for row in rows:
            best[row["round"], row["player"]].append((row["total"], -row["seq"]))
        wanted = {key: (*max(its), len(its)) for key, its in best.items()}
        kept = {
            (row["round"], row["player"]): (row["best_total"], -row["best_seq"], row["guesses"])
            for row in await self.ground.rows("SELECT * FROM standings")
        }
        wrong = [f"{key}: {kept.get(key)}, not {wanted.get(key)}" for key in wanted.keys() | kept.keys()
                 if kept.get(key) != wanted.get(key)]  # fmt: skip
        findings.breach("standings are wrong", wrong)
        members = {row["player"]: row["guesses"] for row in await self.ground.rows("SELECT * FROM memberships")}
        counted = Counter(row["player"] for row in rows)
        findings.breach("players have a wrong count", sorted(dict(members.items() ^ counted.items())))

    async def _answered(self, said: Sequence[Said], since: int, logged: dict[str, int], findings: Findings) -> None:
        shown = Shown.in_entries(self.ground.telegram.ledger.entries[since:])
        wanted = Counter((int(guess.chat.id), guess.player, guess.total) for guess in said)
        strange = [key for key in shown.totals if key not in wanted]
        findings.breach("answers to nobody's guess, or in another chat", strange)
        missing = sorted((wanted - shown.totals).elements())
        uncertain = await self._uncertain(logged)
        findings.breach("guesses have no answer", [key for key in missing if key[0] not in uncertain])
        findings.missed = sum(key[0] in uncertain for key in missing)
        findings.again = len(shown.again)

    async def _uncertain(self, logged: dict[str, int]) -> set[int]:
        """Chats to which a send was cut off before its reply; it counts as sent."""
        chats = {
            event["chat"]
            for name in WORKERS
            for event in self.ground.processes[name].events(logged[name])
            if event.get("event") == SEND_UNCERTAIN
        }
        rows = await self.ground.rows("SELECT chat_ref FROM chats WHERE id = ANY($1)", sorted(chats)) if chats else []
        return {row["chat_ref"] for row in rows}

    async def _outbox(self, findings: Findings) -> None:
        rows = await self.ground.rows("SELECT id, drop_reason FROM outbox WHERE sent_ms IS NULL")
        findings.breach("notices were not said", [tuple(row) for row in rows])
        rows = await self.ground.rows("SELECT name, error FROM aside WHERE aside_ms IS NOT NULL")
        findings.breach("updates were set aside", [tuple(row) for row in rows])

    async def _settled(self, room: Room, since: int, logged: dict[str, int], findings: Findings) -> None:
        rows = await self.ground.rows(
            "SELECT rounds.state, rounds.winner = guesses.player AS won, rounds.closing_seq = guesses.seq AS at_crack "
            "FROM rounds JOIN rooms ON rooms.id = rounds.room JOIN chats ON chats.id = rooms.chat "
            "JOIN guesses ON guesses.round = rounds.id AND guesses.total = $3 "
            "WHERE chats.chat_ref = $1 AND rounds.number = $2",
            room.chat.id,
            room.number,
            WINNING_TOTAL,
        )
        if [tuple(row) for row in rows] != [("settled", True, True)]:
            findings.breach("cracked rounds are not settled as they should be", [(room.chat.title, room.number, rows)])
        entries = self.ground.telegram.ledger.entries[since:]
        over = f"Round {room.number} ·"
        times = sum(it.chat_id == room.chat.id and over in it.text and " is over" in it.text for it in entries)
        if times == 0 and room.chat.id not in await self._uncertain(logged):
            findings.breach("reveals are missing", [(room.chat.title, room.number)])
        findings.again += max(0, times - 1)

    def bound_again(self, findings: Findings, killed_workers: int) -> None:
        """A message may come twice only where a worker was killed with its send open, or not yet recorded."""
        most = _MESSAGES_OPEN * killed_workers
        if findings.again > most:
            findings.breach(f"messages told something twice, and {most} may", range(findings.again))
