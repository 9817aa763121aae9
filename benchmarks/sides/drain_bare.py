"""Drains the lanes' jobs over bare sockets: ``python -m benchmarks.sides.drain_bare URL JOBS GROUPS BATCH``.

Some connections are kept busy at once, each with a settlement and the next claim in one write, so the server always has
something to do: this is as fast as the scripts can be.
"""

from __future__ import annotations

import selectors
import sys
import time
from dataclasses import dataclass
from typing import Final

from benchmarks.bare import Bare, leases_of, set_levers
from benchmarks.loads import fill_at, groups, jobs
from benchmarks.process import say
from benchmarks.sides.drain_lanes import CEILING, WEIGHTS

_CONNECTIONS: Final = 4


def main(url: str, count: int, among: int, batch: int) -> None:
    fill_at(url, jobs(count, among))
    set_levers(url, "bench", groups(among), ceiling=CEILING, weights=WEIGHTS)
    connections = [Bare(url) for _ in range(_CONNECTIONS)]
    connections[0].load("claim", "complete")
    began = time.monotonic()
    done = _drain(connections, batch)
    elapsed_s = time.monotonic() - began
    if done != count:
        raise RuntimeError(f"{done} of {count} jobs were done")
    say(per_s=count / elapsed_s)


def _drain(connections: list[Bare], batch: int) -> int:
    done = 0
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            selector.register(connection.socket, selectors.EVENT_READ, (connection, _Turn()))
            connection.send(connection.claim(batch))
        while selector.get_map():
            for key, _ in selector.select():
                connection, turn = key.data
                connection.take_in()
                for reply in connection.replies():
                    if turn.settling:
                        done += reply.count(1)
                    elif leases := leases_of(reply):
                        connection.send(connection.complete(leases) + connection.claim(batch))
                    else:
                        selector.unregister(connection.socket)
                    turn.settling = not turn.settling
    return done


@dataclass(slots=True)
class _Turn:
    """Which answer a connection is to have next: a claim's, or that of the settlement sent with the next claim."""

    settling: bool = False


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]))
