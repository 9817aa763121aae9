"""Guesses scored and committed to PostgreSQL by one worker process."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.figure import Figure, at_least, of_runs
from benchmarks.peers import Peers
from benchmarks.process import ours
from benchmarks.server import valkey
from benchmarks.sizes import Sizes
from bot.embedded_postgres import PostgresServer


def measure(sizes: Sizes, _: Peers) -> Iterator[Figure]:
    for durable in (False, True):
        runs: list[float] = []
        with PostgresServer(durable=durable) as postgres:
            for _run in range(sizes.runs):
                address = postgres.url(postgres.create())
                with valkey() as url:
                    done = ours("score_guesses", address, sizes.guesses).run(url)
                if done["committed"] != sizes.guesses:
                    raise RuntimeError(f"{done['committed']} of {sizes.guesses} guesses were committed")
                runs.append(done["per_s"])
        how = "commits synced to disk" if durable else "commits not synced"
        yield of_runs(
            f"guesses scored and committed to PostgreSQL, one worker process; {how}",
            "guesses/s",
            runs,
            bound=at_least(5_000),
        )
