"""``codemojex flood``: flood one room, and see what the others feel."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console

from bot.commands.options import console
from bot.errors import OutputUnusable
from bot.flood.bounds import Bounds
from bot.flood.plan import BadPlan, Plan
from bot.flood.plot import draw, require_plot
from bot.flood.report import report
from bot.flood.running import Ground, Ran, play
from bot.flood.servers import Kind, check_loopback, default_kind
from bot.flood.shown import Display, table
from bot.logs import configure

_BROKEN: Final = 1
_DEFAULT: Final = Plan()

Engine = Annotated[bool, typer.Option("--engine", help="Through the lanes alone; else through the whole product.")]
FloodGuesses = Annotated[int, typer.Option(help="Guesses that the flooded room says.")]
FloodPlayers = Annotated[int, typer.Option(help="Of how many players.")]
QuietRooms = Annotated[int, typer.Option(help="Rooms that play beside it.")]
QuietRate = Annotated[float, typer.Option(help="Guesses a second of each of them, at fixed times.")]
Workers = Annotated[int, typer.Option(help="Processes that score; with --engine, workers of one process.")]
Seconds = Annotated[float, typer.Option(help="How long guesses are said in the whole run.")]
Ceiling = Annotated[int, typer.Option(help="Most guesses of a room in flight.")]
Cap = Annotated[int | None, typer.Option(help="Most guesses of the flooded room that may wait; left out: any number.")]
Fifo = Annotated[bool, typer.Option("--fifo", help="Flood once more with all guesses on one single line.")]
JobMs = Annotated[int, typer.Option(help="With --engine: how long a job takes.")]
Seed = Annotated[int, typer.Option(help="Decides what is guessed.")]
JsonFile = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", dir_okay=False, help="Write all figures there.")
]
PlotFile = Annotated[Path | None, typer.Option("--plot", metavar="FILE.png", dir_okay=False, help="Draw it there.")]
Database = Annotated[Kind | None, typer.Option(help="Which one to start; PostgreSQL where its wheel is installed.")]
RedisUrl = Annotated[str | None, typer.Option(metavar="URL", help="A Redis that runs, in place of its own.")]
DatabaseUrl = Annotated[str | None, typer.Option(metavar="URL", help="A database that runs, in place of its own.")]
IKnow = Annotated[bool, typer.Option("--i-know", help="Flood servers of another machine, or of a game.")]
Ratio = Annotated[float | None, typer.Option("--assert-ratio", help="Most that quiet_p99_ratio may be.")]
P99 = Annotated[float | None, typer.Option("--assert-quiet-p99-ms", help="Most that quiet_p99_ms_flood may be.")]
Jain = Annotated[float | None, typer.Option("--assert-jain", help="Least that jain_index may be.")]
DoneAt = Annotated[int | None, typer.Option("--assert-done-at-service", help="Most that quiet_done_at_service may be.")]
InCeiling = Annotated[bool, typer.Option("--assert-ceiling", help="The flooded room never has more in flight.")]
Once = Annotated[
    bool, typer.Option("--assert-exactly-once", help="None lost, double, left or unanswered; refusals have an ETA.")
]


def flood(
    *,
    engine: Engine = False,
    flood_guesses: FloodGuesses = _DEFAULT.flood_guesses,
    flood_players: FloodPlayers = _DEFAULT.flood_players,
    quiet_rooms: QuietRooms = _DEFAULT.quiet_rooms,
    quiet_rate: QuietRate = _DEFAULT.quiet_rate,
    workers: Workers = _DEFAULT.workers,
    seconds: Seconds = _DEFAULT.seconds,
    ceiling: Ceiling = _DEFAULT.ceiling,
    cap: Cap = None,
    fifo: Fifo = False,
    job_ms: JobMs = _DEFAULT.job_ms,
    seed: Seed = _DEFAULT.seed,
    json_file: JsonFile = None,
    plot: PlotFile = None,
    database: Database = None,
    redis_url: RedisUrl = None,
    database_url: DatabaseUrl = None,
    i_know: IKnow = False,
    assert_ratio: Ratio = None,
    assert_quiet_p99_ms: P99 = None,
    assert_jain: Jain = None,
    assert_done_at_service: DoneAt = None,
    assert_ceiling: InCeiling = False,
    assert_exactly_once: Once = False,
) -> None:
    """Flood one room while others play, and tell what the others felt of it.

    Starts servers, a bot and workers of its own, and a stand-in for Telegram that is as strict. Quiet rooms guess at a
    fixed rate all along: first alone, then beside the flood, then with the same load spread evenly over all rooms.

    Ends with 1 where a bound given with --assert-... is broken, or where a server or process ended half way; what was
    measured until then is told all the same.
    """
    plan = Plan(
        flood_guesses,
        flood_players,
        quiet_rooms,
        quiet_rate,
        workers,
        seconds,
        ceiling,
        cap,
        fifo,
        engine,
        job_ms,
        seed,
    )
    bounds = Bounds(
        assert_ratio, assert_quiet_p99_ms, assert_jain, assert_done_at_service, assert_ceiling, assert_exactly_once
    )
    bounds.check(plan)
    _check_files(json_file, plot)
    if not i_know:
        check_loopback(redis_url, database_url)
    configure("error", json=True)
    with Display() as display:
        ran = play(plan, Ground(database or default_kind(), redis_url, database_url, i_know), display.teller)
    raise typer.Exit(_tell(plan, bounds, ran, json_file, plot))


def _check_files(json_file: Path | None, plot: Path | None) -> None:
    for name, path in (("--json", json_file), ("--plot", plot)):
        if path is not None and not path.absolute().parent.is_dir():
            raise BadPlan(f"there is no folder {path.absolute().parent} for {name}; make it, or name another")
        if path is not None and not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
            raise BadPlan(f"{name} {path} can't be written; name another file")
    if plot is not None:
        require_plot()


def _tell(plan: Plan, bounds: Bounds, ran: Ran, json_file: Path | None, plot: Path | None) -> int:
    """Print, write and draw; answers the exit code."""
    told = report(plan, ran.fair, ran.fifo)
    screen = console()
    screen.print(table(told))
    try:
        if json_file is not None:
            json_file.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
        if plot is not None:
            draw(plot, ran.fair, ran.fifo)
    except OSError as error:
        raise OutputUnusable(f"cannot write {error.filename}: {error.strerror}; name another file") from error
    return _verdict(screen, bounds, told, ran.signal)


def _verdict(screen: Console, bounds: Bounds, told: dict[str, Any], signal: int) -> int:
    if told["ended"]:
        screen.print(f"It ended early: {told['ended']}. What was measured until then is above.", markup=False)
    if told["flood_sent"] < told["plan"]["flood_guesses"] and not told["ended"]:
        screen.print(
            f"The time was over after {told['flood_sent']:,} of {told['plan']['flood_guesses']:,} guesses of the "
            "flood; give more --seconds for all of them."
        )
    broken = list(bounds.broken(told))
    for sentence in broken:
        screen.print(f"Broken: {sentence}.", markup=False)
    if signal:
        return signal
    return _BROKEN if broken or told["ended"] else 0
