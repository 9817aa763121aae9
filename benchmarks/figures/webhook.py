"""Guesses from Telegram's posts to durable on their lanes, through one bot process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from benchmarks.figure import Figure, at_least, at_most, of_runs, times_at_most
from benchmarks.peers import Peers
from benchmarks.process import ours
from benchmarks.server import valkey
from benchmarks.sizes import Sizes
from bot.embedded_postgres import PostgresServer

_TIMES_PARSING: Final = 4.0
"""Where the library reads a message in 120 us, this is 2,000 guesses a second; and it holds on a busy machine, too."""


def measure(sizes: Sizes, _: Peers) -> Iterator[Figure]:
    reads_us: list[float] = []
    for durable in (False, True):
        how = "Valkey syncs every write" if durable else "Valkey keeps no file"
        said = [_posted(sizes.posts, durable=durable) for _run in range(sizes.runs)]
        yield of_runs(
            f"guesses posted to a webhook and on their lanes, one bot process; {how}",
            "guesses/s",
            [run["per_s"] for run in said],
            bound=at_least(2_000),
        )
        yield of_runs(
            f"p99 of a post at half that rate; {how}", "ms", [run["p99_ms"] for run in said], bound=at_most(50)
        )
        yield of_runs(
            f"the bot's CPU a post, against what reading its message costs; {how}",
            "us",
            [run["cpu_us"] for run in said],
            against=[run["parse_us"] for run in said],
            bound=times_at_most(_TIMES_PARSING),
        )
        reads_us += [run["parse_us"] for run in said]
    rows = [_scored(sizes.posts) for _run in range(sizes.runs)]
    yield of_runs(
        "guesses posted, scored and committed to PostgreSQL, one bot and one worker process",
        "guesses/s",
        [run["per_s"] for run in rows],
        bound=at_least(1_500),
    )
    yield of_runs("messages that one core can read", "messages/s", [1_000_000 / us for us in reads_us])


def _scored(posts: int) -> dict[str, Any]:
    with PostgresServer() as postgres:
        address = postgres.url(postgres.create())
        with valkey(durable=True) as url:
            return ours("post_scored", address, posts).run(url)


def _posted(posts: int, *, durable: bool) -> dict[str, Any]:
    with PostgresServer() as postgres:
        address = postgres.url(postgres.create())
        with valkey(durable=durable) as url:
            done = ours("post_guesses", address, posts, 0).run(url)
    if done["on_lanes"] != done["posted"]:
        raise RuntimeError(f"{done['posted']} guesses were answered 200, and {done['on_lanes']} are on their lanes")
    return done
