"""What waits, what lapsed, what was given up: ``drain``, ``forget``, ``reassign``, ``reap``, ``redrive``, ``dead``."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import typer

from bot.commands.lanes import options
from bot.commands.lanes.answers import answer, columns, counted, named, sure
from bot.commands.lanes.options import QueueName, group_id
from bot.commands.lanes.session import in_house, lanes_of
from bot.commands.options import DataDir
from bot.errors import ProgramError
from bot.names import clean
from bot.wiring import House
from engine.ids import JOB, PLAYER, JobId, PlayerId, RoomId, check
from engine.lanes import Record, State

_SHOWN: Final = 60
_MOVED: Final = {
    "reassigned": "moved",
    "noop": "was there already",
    "not_found": "is not in the queue (any more)",
    "not_pending": "does not wait: it is scheduled, in flight or dead, and stays",
    "full": "stays: a cap of its new place is reached",
}


def drain(
    group: options.Group,
    *,
    lane: Annotated[str | None, typer.Option("--lane", metavar="ID", help="Only this lane: a room's player.")] = None,
    queue: options.Queue = QueueName.GUESSES,
    yes: options.Yes = False,
    json: options.Json = False,
    data_dir: DataDir = None,
) -> None:
    """Delete what waits in a group, or in one lane of it. What is in flight and all levers stay."""
    group_id(queue, group)
    if lane is not None:
        check(lane, kind=PLAYER if queue is QueueName.GUESSES else None, argument="--lane")

    async def do(house: House) -> int:
        if queue is QueueName.GUESSES:
            return await house.game.operators.drain(RoomId(group), None if lane is None else PlayerId(lane))
        return await lanes_of(house, queue).drain(group, lane)

    depth, titles = in_house(lambda house: _looked(house, queue, group), data_dir)
    whose = named(group, titles) if lane is None else f"{lane} in {named(group, titles)}"
    sure(f"Delete what waits of {whose} on {queue} ({counted(depth, 'job')} in the group)?", yes=yes)
    drained = in_house(do, data_dir)
    document = {"queue": queue, "group": group, "title": titles.get(group), "lane": lane, "drained": drained}
    answer(document, f"{whose}: {counted(drained, 'job')} deleted.", as_json=json)


def forget(
    group: options.Group,
    *,
    queue: options.Queue = QueueName.GUESSES,
    yes: options.Yes = False,
    json: options.Json = False,
    data_dir: DataDir = None,
) -> None:
    """Delete all jobs of a group, also those in flight and dead, and take back its levers, a room's plan too."""
    group_id(queue, group)

    async def do(house: House) -> int:
        if queue is QueueName.GUESSES:
            return await house.game.operators.forget(RoomId(group))
        return await lanes_of(house, queue).forget(group)

    depth, titles = in_house(lambda house: _looked(house, queue, group), data_dir)
    whose = named(group, titles)
    sure(f"Delete every job of {whose} on {queue} ({depth:,} wait), and take back its levers?", yes=yes)
    forgotten = in_house(do, data_dir)
    document = {"queue": queue, "group": group, "title": titles.get(group), "forgotten": forgotten}
    answer(document, f"{whose}: {counted(forgotten, 'job')} deleted, levers taken back.", as_json=json)


def reassign(
    job: Annotated[str, typer.Argument(metavar="JOB", help="The id of a waiting job.")],
    group: options.Group,
    *,
    lane: Annotated[str | None, typer.Option("--lane", metavar="ID", help="The lane in the group.")] = None,
    queue: options.Queue = QueueName.GUESSES,
    yes: options.Yes = False,
    json: options.Json = False,
    data_dir: DataDir = None,
) -> None:
    """Move one waiting job to another group or lane; it keeps its place in the order of admission.

    A guess can't leave its room: there it becomes the player's whose lane is named, and so does its answer.
    """
    group_id(queue, group)
    guess = queue is QueueName.GUESSES
    if guess:
        check(job, kind=JOB, argument="JOB")
    to = check(
        lane if lane is not None else ("" if guess else group), kind=PLAYER if guess else None, argument="--lane"
    )

    async def do(house: House) -> str:
        if guess:
            return await house.game.operators.reassign(JobId(job), RoomId(group), PlayerId(to))
        return await lanes_of(house, queue).reassign(job, group, to)

    if guess:
        sure(f"Make guess {job} one of player {to}?", yes=yes)
    moved = str(in_house(do, data_dir))
    if moved not in {"reassigned", "noop"} and not json:
        raise ProgramError(f"{job} {_MOVED[moved]}")
    document = {"queue": queue, "job": job, "group": group, "lane": to, "outcome": moved}
    answer(document, f"{job} {_MOVED[moved]}.", as_json=json)
    if moved not in {"reassigned", "noop"}:
        raise typer.Exit(1)


def reap(
    group: options.SomeGroup = None,
    *,
    limit: options.Count = 1_000,
    queue: options.Queue = QueueName.GUESSES,
    json: options.Json = False,
    data_dir: DataDir = None,
) -> None:
    """End leases that lapsed, of one group or of all: their jobs wait again, or are given up after their attempts."""

    async def do(house: House) -> int:
        lanes = lanes_of(house, queue)
        return await (lanes.reap(limit) if group is None else lanes.reap_group(group_id(queue, group), limit))

    reaped = in_house(do, data_dir)
    answer(
        {"queue": queue, "group": group, "reaped": reaped}, f"{counted(reaped, 'lapsed lease')} ended.", as_json=json
    )


def redrive(
    group: options.SomeGroup = None,
    *,
    job: Annotated[str | None, typer.Option("--job", metavar="ID", help="Only this job.")] = None,
    limit: options.Count = 1_000,
    queue: options.Queue = QueueName.GUESSES,
    json: options.Json = False,
    data_dir: DataDir = None,
) -> None:
    """Give dead jobs another try, at the end of their lanes. Those that a cap has no room for stay dead."""
    if group is not None:
        group_id(queue, group)
    redriven = in_house(lambda house: lanes_of(house, queue).redrive(group, job, limit), data_dir)
    if job is not None and not redriven and not json:
        raise ProgramError(f"{job} is not among the dead, or a cap has no room for it; see `codemojex lanes dead`")
    document = {"queue": queue, "group": group, "job": job, "redriven": redriven}
    answer(document, f"{counted(redriven, 'dead job')} back in line.", as_json=json)
    if job is not None and not redriven:
        raise typer.Exit(1)


def dead(
    group: options.SomeGroup = None,
    *,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1_000, help="At most so many jobs.")] = 20,
    queue: options.Queue = QueueName.GUESSES,
    json: options.Json = False,
    data_dir: DataDir = None,
) -> None:
    """List jobs that were given up, with when and why; `redrive` gives them another try."""
    if group is not None:
        group_id(queue, group)

    async def do(house: House) -> tuple[list[Record], int, dict[str, str]]:
        lanes = lanes_of(house, queue)
        records = await lanes.browse(group, limit, State.dead)
        titles = await house.game.operators.titles([record.group for record in records])
        return records, (await lanes.stats(0)).dead, titles

    records, total, titles = in_house(do, data_dir)
    rows = [("job", "group", "lane", "attempts", "given up", "last error")]
    rows += [
        (record.id, named(record.group, titles), record.lane, str(record.attempts), _when(record.at_ms), _said(record))
        for record in records
    ]
    lines = columns(rows) if records else ["No job is dead." if not total else "No job of it is dead."]
    if records and total > len(records):
        lines.append(f"{total:,} in the whole queue.")
    jobs = [_document(record, titles) for record in records]
    answer({"queue": queue, "group": group, "dead": total, "jobs": jobs}, *lines, as_json=json)


async def _looked(house: House, queue: QueueName, group: str) -> tuple[int, dict[str, str]]:
    if queue is QueueName.GUESSES:
        await house.game.operators.room(RoomId(group))
    return await lanes_of(house, queue).depth(group), await house.game.operators.titles([group])


def _document(record: Record, titles: dict[str, str]) -> dict[str, Any]:
    kept = {name: value for name, value in asdict(record).items() if name not in {"payload", "state", "at_ms"}}
    return {**kept, "title": titles.get(record.group), "dead_ms": record.at_ms}


def _said(record: Record) -> str:
    error = " ".join(clean(word) for word in record.error.split())
    return error if len(error) <= _SHOWN else f"{error[: _SHOWN - 1]}…"


def _when(at_ms: int) -> str:
    return f"{datetime.fromtimestamp(at_ms / 1_000, UTC):%Y-%m-%d %H:%M:%S} UTC"
