"""Drains the lanes' jobs over bare sockets: ``python -m benchmarks.sides.drain_bare URL JOBS GROUPS BATCH``.

Some connections are kept busy at once, each with a settlement and the next claim in one call, so the server always has
something to do: this is as fast as the scripts can be.
"""

from __future__ import annotations

import selectors
import sys
import time
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
    connections[0].load("exchange")
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
            selector.register(connection.socket, selectors.EVENT_READ, connection)
            connection.send(connection.exchange([], batch))
        while selector.get_map():
            for key, _ in selector.select():
                connection = key.data
                connection.take_in()
                for _, codes, claimed in connection.replies():
                    done += codes.count(1)
                    if leases := leases_of(claimed):
                        connection.send(connection.exchange(leases, batch))
                    else:
                        selector.unregister(connection.socket)
    return done


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]))
