"""``python -m tests.chaos --rounds 300 --seed 7`` (`make chaos`): rounds of the game, each with one disturbance.

So many rounds of kills, and a tenth as many of each other kind, are played by the product's own processes against a
strict Telegram. Each ground lives through many rounds. After each round everything must be drained, and what chats saw,
SQL and the lanes must agree. Exits with 1 if anything did not; Ctrl-C ends it with what was played so far.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from bot.commands.options import console as output
from tests.chaos.disturbances import Kind, other_version
from tests.chaos.ground import Plan
from tests.chaos.playing import LONG, SHORT, Played, Size, leg

ROUNDS_A_GROUND: Final = 50
SHARE: Final = {Kind.KILL: 1.0, Kind.STOP: 0.1, Kind.CUT: 0.1, Kind.VERSIONS: 0.1, Kind.TWICE: 0.1}
"""Of the rounds asked for."""
LEASE_MS: Final = {Kind.STOP: 30_000}
"""Whoever is stopped for less than a lease comes back to what it had; 4 s where nobody is, so that kills take less."""
COOLDOWN_MS: Final = 3_000
"""Twenty messages a minute: none of many rounds then waits for the minutes of those before it."""
_INTERRUPTED: Final = 130


@dataclass(frozen=True, slots=True)
class Stage:
    """One ground to be played on."""

    kind: Kind
    number: int
    rounds: int

    def plan(self, other: Path) -> Plan:
        """Grounds take turns between webhook and polling; only posts can come twice at once."""
        webhook = self.kind is Kind.TWICE or self.number % 2 == 0
        return Plan(webhook, LEASE_MS.get(self.kind, 4_000), other if self.kind is Kind.VERSIONS else None, COOLDOWN_MS)


def stages(rounds: int, only: Kind | None) -> Iterator[Stage]:
    """The grounds of so many rounds; with ``only``, all of them of one kind."""
    for kind in Kind if only is None else (only,):
        left = rounds if only is not None else max(2, round(rounds * SHARE[kind]))
        # Two grounds at least, for both ways in.
        a_ground = min(ROUNDS_A_GROUND, -(-left // 2))
        number = 0
        while left > 0:
            yield Stage(kind, number, min(left, a_ground))
            left, number = left - a_ground, number + 1


async def play(
    seed: int, all_stages: list[Stage], size: Size, other: Path | None, tell: Callable[[Played], None]
) -> None:
    """Play every stage; one with a breach ends with that."""
    with tempfile.TemporaryDirectory(prefix="codemojex-chaos-") as folder:
        home = Path(folder)
        code = other if other is not None else other_version(home / "other")
        for stage in all_stages:
            place = home / f"{stage.kind} {stage.number}"
            place.mkdir()
            async with leg(f"{seed} {stage.kind} {stage.number}", size, stage.plan(code), place) as playing:
                for number in range(stage.rounds):
                    played = await playing.play(number, stage.kind)
                    tell(played)
                    if played.breaches:
                        kept = Path(tempfile.mkdtemp(prefix="codemojex-chaos-logs-"))
                        playing.ground.keep(kept)
                        played.breaches.append(f"what the processes logged is in {kept}")
                        break


def table(all_played: list[Played], took_s: float) -> Table:
    """What happened, by disturbance."""
    title = f"{len(all_played)} rounds in {took_s / 60:.1f} min, {len(all_played) / max(took_s, 1) * 60:.1f} a minute"
    shown = Table(title=title)
    shown.add_column("disturbance")
    for name in ("rounds", "guesses", "said again", "429", "missed", "drained, s", "breaches"):
        shown.add_column(name, justify="right")
    for name in sorted({played.name for played in all_played}):
        its = [played for played in all_played if played.name == name]
        shown.add_row(
            name,
            str(len(its)),
            str(sum(it.guesses for it in its)),
            str(sum(it.again for it in its)),
            str(sum(it.refused for it in its)),
            str(sum(it.missed for it in its)),
            f"{sum(it.drain_s for it in its) / len(its):.1f}, most {max(it.drain_s for it in its):.1f}",
            str(sum(bool(it.breaches) for it in its)),
        )
    return shown


def asked(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """What the command line asks for; what makes no sense ends the program, and says why."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument(
        "--rounds", type=_rounds, default=30, help="rounds of kills; a tenth of each other kind, two at least"
    )
    parser.add_argument("--seed", type=int, default=None, help="decides what happens when; left out, a new one")
    parser.add_argument("--only", type=Kind, choices=list(Kind), default=None, help="all rounds of this kind")
    parser.add_argument("--short", action="store_true", help="less said, and stops of 2 s instead of 20")
    parser.add_argument("--other", type=_checkout, default=None, help="a checkout of another version, for the versions")
    return parser.parse_args(arguments)


def _rounds(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is no whole number from 1 up")
    return int(word)


def _checkout(word: str) -> Path:
    """The folder in full: processes start elsewhere, and would find our own code where it is not there."""
    folder = Path(word).resolve()
    if not (folder / "bot" / "cli.py").is_file():
        raise argparse.ArgumentTypeError(f"{folder} is no checkout of Codemojex: there is no bot/cli.py in it")
    return folder


def main() -> int:
    """Run it, and answer the exit code."""
    wanted = asked()
    seed = random.SystemRandom().randrange(1 << 32) if wanted.seed is None else wanted.seed
    console = output()
    console.print(f"seed {seed}")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell had it ignored
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    all_stages = list(stages(wanted.rounds, wanted.only))
    all_played: list[Played] = []
    began_s, interrupted = time.monotonic(), False
    columns = (TextColumn("chaos"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, TextColumn("{task.fields[told]}"), console=console) as progress:
        bar = progress.add_task("chaos", total=sum(stage.rounds for stage in all_stages), told="")

        def tell(played: Played) -> None:
            all_played.append(played)
            told = f"{played.name}, {played.guesses} guesses"
            progress.update(bar, advance=1, told=told)
            if not console.is_terminal:  # no bar is drawn there
                console.print(f"{len(all_played)}: {told}, {played.took_s:.1f} s", highlight=False)
            for breach in played.breaches:
                console.print(f"breach: {breach}", style="red", markup=False)

        size = SHORT if wanted.short else LONG
        try:
            asyncio.run(play(seed, all_stages, size, wanted.other, tell))
        except KeyboardInterrupt:
            interrupted = True
    console.print(table(all_played, time.monotonic() - began_s))
    breached = any(played.breaches for played in all_played)
    if breached:
        console.print(f"[red]Broken; seed {seed}.[/red]")
    else:
        unfinished = f" Interrupted before all {sum(stage.rounds for stage in all_stages)} rounds." * interrupted
        console.print(f"[green]All of it holds.[/green]{unfinished}")
    if breached:
        return 1
    return _INTERRUPTED if interrupted else 0


if __name__ == "__main__":
    sys.exit(main())
