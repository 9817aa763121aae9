"""``python -m tests.soak --minutes 2 --seed 7`` (`make soak`): many processes on one queue, bounded, then the cases.

Claimers, producers and somebody who pulls levers work for so long; some of them are killed now and then. The
invariants are asked for by dumps meanwhile; now and then everybody rests, and every job must be accounted for. Then the
numbered cases run with their full counts. Exits with 1 if anything was wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from tests.servers.redis import test_server as redis_server
from tests.soak.crew import ROOT, Crew
from tests.soak.ground import END, PHASE
from tests.soak.referee import Referee

REST_EVERY_S: Final = 15.0
LOOK_EVERY_S: Final = 0.3
KILL_EVERY_S: Final = 1.5
CASES: Final = ("-m", "case", "-n", "2", "-q", "-o", "timeout=900", "tests/lanes")

Tell = Callable[[float, str], None]


async def soak(url: str, minutes: float, seed: int, console: Console) -> list[str]:
    """Let them work for so long, and answer what was wrong."""
    columns = (TextColumn("soak"), BarColumn(), TimeRemainingColumn(), TextColumn("{task.fields[told]}"))
    async with Redis.from_url(url, retry=Retry(NoBackoff(), 0)) as redis:
        referee, crew = Referee(redis, url), Crew(url, seed)
        try:
            with Progress(*columns, console=console) as progress:
                bar = progress.add_task("soak", total=minutes * 60, told="")
                await _work(referee, crew, random.Random(seed), minutes * 60, _teller(progress, bar))  # noqa: S311
            return [*await referee.ledger.breached(), *crew.ended]
        finally:
            _summarize(console, await referee.ledger.tally(), crew.killed)
            await redis.set(PHASE, END)
            crew.dismiss()
            await referee.close()


def _teller(progress: Progress, bar: object) -> Tell:
    def tell(done_s: float, told: str) -> None:
        progress.update(bar, completed=done_s, told=told)  # type: ignore[arg-type]  # rich's TaskID is no public name

    return tell


async def _work(referee: Referee, crew: Crew, chance: random.Random, seconds: float, tell: Tell) -> None:
    """Turns of work, each with a rest at its end, until the time is over or something was wrong."""
    began_s = time.monotonic()
    while (left_s := seconds - (time.monotonic() - began_s)) > 0 and not await referee.ledger.breached():
        await referee.begin()
        rest_at_s = time.monotonic() + min(REST_EVERY_S, left_s)
        kill_at_s = time.monotonic() + KILL_EVERY_S
        while time.monotonic() < rest_at_s:
            await asyncio.sleep(LOOK_EVERY_S)
            await referee.look()
            crew.look()
            if time.monotonic() > kill_at_s:
                crew.kill_one(chance)
                kill_at_s = time.monotonic() + KILL_EVERY_S
            tally = await referee.ledger.tally()
            tell(time.monotonic() - began_s, f"{tally.get('done', 0)} done, {crew.killed} killed")
        await referee.rest(crew)
    tell(seconds, "over")


def _summarize(console: Console, tally: dict[str, int], killed: int) -> None:
    table = Table(title="What happened")
    table.add_column("what")
    table.add_column("times", justify="right")
    for what, times in sorted({**tally, "processes killed": killed}.items()):
        table.add_row(what, str(times))
    console.print(table)


def _run_cases(seed: int) -> bool:
    command = [sys.executable, "-m", "pytest", *CASES, f"--randomly-seed={seed}", f"--hypothesis-seed={seed}"]
    environment = {**os.environ, "CODEMOJEX_TEST_FULL": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode == 0  # noqa: S603 - our own


def main() -> int:
    """Run it, and answer the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0, help="how long the processes work")
    parser.add_argument("--seed", type=int, default=None, help="decides what they do; left out, a new one")
    parser.add_argument("--no-cases", action="store_true", help="leave the cases' full counts out")
    asked = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 32) if asked.seed is None else asked.seed
    console = Console()
    console.print(f"seed {seed}")
    with tempfile.TemporaryDirectory() as folder, redis_server(Path(folder)) as server:
        breaches = asyncio.run(soak(server.url, asked.minutes, seed, console))
    for breach in breaches:
        console.print(f"[red]breach:[/red] {breach}")
    cases_hold = asked.no_cases or bool(breaches) or _run_cases(seed)
    console.print(
        "[green]All of it holds.[/green]" if cases_hold and not breaches else f"[red]Broken; seed {seed}.[/red]"
    )
    return 0 if cases_hold and not breaches else 1


if __name__ == "__main__":
    sys.exit(main())
